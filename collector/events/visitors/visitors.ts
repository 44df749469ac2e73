import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Format } from '../../api/http/negotiateFormat.ts'
import type { AdmittedRequest } from '../../billing/chargedRequest.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { isDamaged } from '../../platform/storeErrors.ts'
import type { EventsPage } from '../query/page/readPage.ts'
import { outputFormat, pageOf, plainEncoding, rowEncoding } from '../query/page/rowEncoding.ts'
import {
  type ExpectedRecords,
  identifiedKey,
  readRecords,
  readUnchanged,
  requireExpected,
} from '../query/profiles/expectedRecords.ts'
import { nameProjects } from '../query/projects.ts'
import { findDamagedRanges, hasBrokenParts } from './damagedRanges.ts'
import { visitorsQuery } from './visitorsQuery.ts'
import type { VisitorsPlan } from './visitorsRequest.ts'

type VisitorRows = Pick<EventsPage, 'records' | 'rows' | 'window'> &
  Partial<Pick<EventsPage, 'hashes'>>

/** A page of visitors, with the values for `settle`. */
export interface Visitors extends VisitorRows {
  /** True when a part of the window could not be read. */
  readonly hasPartialData: boolean
}

/**
 * Reads the visitors of a plan. It omits damaged parts of the window. Every other error is thrown unchanged.
 */
export async function readVisitors(
  queryExecutor: QueryExecutor,
  unnamed: VisitorsPlan,
  format: Format,
  { charge }: Pick<AdmittedRequest, 'charge'>,
): Promise<Visitors> {
  const plan = await nameProjects(queryExecutor, unnamed)
  // The first column distinguishes a row of CSV from a line inside a value.
  const encoding = rowEncoding(plan, format, { leadsWithNext: format === 'csv' })
  const output = outputFormat(plan.columns, encoding)
  const readRows = async (readable: VisitorsPlan): Promise<VisitorRows> => {
    const stream = await queryExecutor.stream(visitorsQuery(readable, encoding), output)
    requireExpected(readable.expected, stream.rows, () => stream.body.destroy())
    const { records, rows } = await pageOf(stream, { limit: plan.limit, order: 'desc' }, encoding)
    return { records, rows, window: plan.window }
  }
  const read = async (readable: VisitorsPlan): Promise<VisitorRows> => {
    if (!charge.isRepeatable) return readRows(readable)
    const keys = { ...readable, columns: identifiedKey, hasAllColumns: false }
    const { rows, hashes } = await readUnchanged(
      () => readRecords(queryExecutor, visitorsQuery(keys, plainEncoding), identifiedKey),
      (expected: ExpectedRecords) => readRows({ ...readable, expected }),
    )
    return { ...rows, hashes: () => hashes }
  }
  try {
    const [page, hasPartialData] = await Promise.all([
      read(plan),
      hasBrokenParts(queryExecutor, plan),
    ])
    return { ...page, hasPartialData }
  } catch (error) {
    if (!isDamaged(error)) throw error
    // Encoded members read the same data as single values, in a fraction of the time.
    const gaps = await findDamagedRanges(plan.window, (window) =>
      isReadable(
        queryExecutor,
        visitorsQuery({ ...plan, window }, { ...plainEncoding, profiles: 'members' }),
      ),
    )
    return { ...(await read({ ...plan, gaps })), hasPartialData: true }
  }
}

/** Whether all data of a query can be read. */
async function isReadable(queryExecutor: QueryExecutor, { sql, params }: Query): Promise<boolean> {
  try {
    await queryExecutor.rows({ sql: `SELECT sum(ignore(*)) FROM (\n${sql}\n)`, params })
    return true
  } catch (error) {
    if (!isDamaged(error)) throw error
    return false
  }
}
