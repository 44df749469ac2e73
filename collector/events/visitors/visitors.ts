import type { Reader } from '../../api/access/reader.ts'
import type { Format } from '../../api/http/negotiateFormat.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { type Page, pageOf } from '../query/page.ts'
import { nameProjects } from '../query/projects.ts'
import { recordKey } from '../query/recordHashes.ts'
import { outputOf, rowForm } from '../query/rowForm.ts'
import { findDamagedRanges, hasBrokenParts, lossOf } from './damagedRanges.ts'
import type { VisitorsPlan } from './plan.ts'
import { visitorsQuery } from './visitorsQuery.ts'

/** Visitors on their way from ClickHouse. */
export interface Visitors extends Pick<Page, 'records' | 'rows'> {
  /** Selects the keys of their events, for readRecordHashes. */
  keysQuery(): Query
  /** True when a part of the window could not be read. */
  readonly hasPartialData: boolean
}

/**
 * Asks for the visitors of a plan. What cannot be read is looked for and left out; an error that is none of the data's
 * is thrown as it came.
 */
export async function readVisitors(
  reader: Reader,
  unnamed: VisitorsPlan,
  format: Format,
): Promise<Visitors> {
  const plan = await withProjects(reader, unnamed)
  // By its first column a row of CSV is told from a line of a value.
  const form = rowForm(plan, format, format === 'csv')
  const read = async (readable: VisitorsPlan) => {
    const stream = await reader.stream(visitorsQuery(readable, form), outputOf(plan, format, form))
    const page = await pageOf(
      stream,
      { limit: plan.limit, order: 'desc' },
      format,
      form.leadsWithNext,
    )
    const columns = { columns: recordKey, hasAllColumns: false }
    const keysQuery = () =>
      visitorsQuery({ ...readable, ...columns }, { leadsWithNext: false, profiles: 'columns' })
    return { ...page, keysQuery }
  }
  try {
    const [page, hasPartialData] = await Promise.all([
      read(plan),
      hasBrokenParts(reader, plan.window),
    ])
    return { ...page, hasPartialData }
  } catch (error) {
    const loss = lossOf(error)
    if (loss === null) throw error
    if (loss === 'lost shard')
      return { ...(await read({ ...plan, skipsLostShards: true })), hasPartialData: true }
    // Ready members need the same of the stores as single values do, and a fraction of the time.
    const gaps = await findDamagedRanges(plan.window, (window) =>
      isReadable(
        reader,
        visitorsQuery({ ...plan, window }, { leadsWithNext: false, profiles: 'members' }),
      ),
    )
    return { ...(await read({ ...plan, gaps })), hasPartialData: true }
  }
}

/** Without their names where a shard does not answer, whose projects nobody can tell. */
async function withProjects(reader: Reader, plan: VisitorsPlan): Promise<VisitorsPlan> {
  try {
    return await nameProjects(reader, plan)
  } catch (error) {
    if (lossOf(error) !== 'lost shard') throw error
    return plan
  }
}

/** Whether all that a query needs can be read. */
async function isReadable(reader: Reader, { sql, params }: Query): Promise<boolean> {
  try {
    await reader.rows({ sql: `SELECT sum(ignore(*)) FROM (\n${sql}\n)`, params })
    return true
  } catch (error) {
    if (lossOf(error) !== 'damaged') throw error
    return false
  }
}
