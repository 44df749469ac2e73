import { randomUUID } from 'node:crypto'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { ApiError } from '../../api/http/errors.ts'
import { alikeMin, isOfChosenPeople, sampleMembersMin } from '../../events/query/freeAnswers.ts'
import { erasedHems, everywhere } from '../../events/query/suppressedPeople.ts'
import { readCompanies } from '../../identity/store/companies.ts'
import { personFields, readPeople } from '../../identity/store/people.ts'
import { profileCount } from '../../identity/store/profileSql.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { singlesOut } from '../builder/decidedMembers.ts'
import { leafIdsOf } from '../builder/leafDays.ts'
import { isPredictive, readUsedBuilds, readUsedLists } from '../builder/usedObjects.ts'
import type { Entity, Parsed } from '../definition/definition.ts'
import { readRules } from '../signals/rules.ts'
import { type Estimate, estimateOf, sharesAll } from './estimate.ts'
import { coarseRow } from './mask.ts'
import { dayOf, sampleQuery } from './sampleQuery.ts'

/** Most rows of a sample (spec: Errors and limits). */
const rowsMax = 25
/** Approximate number of people or companies to check. */
const lookedAt = 50_000
/** Result of a sample. */
export interface Sample {
  readonly sample: Record<string, unknown>[]
  /** Null for a definition that may describe chosen people, or singles people out (query/freeAnswers.ts). */
  readonly estimate: Estimate | null
  /** The meter that reading the members would charge. */
  readonly meter: 'audience' | 'audience_predictive'
}

/**
 * Returns some members of a definition, coarsely masked and in no order, and an estimate of their number.
 * With many people it reads only those whose hems are in a range. For live keys, fewer than 1,000 members
 * return no rows. People whom the caller may have chosen, or whom a condition singles out, return neither rows nor
 * an estimate. Data of test keys is generated. Throws the errors of readers, and AudienceNotBuilt.
 */
export async function takeSample(
  {
    queryExecutor,
    postgres,
    nowMs,
  }: { queryExecutor: QueryExecutor; postgres: Queryable; nowMs: number },
  {
    organizationId,
    projectId,
    mode,
  }: { organizationId: string; projectId: string; mode: 'live' | 'test' },
  parsed: Parsed,
  intentWindowDays: number,
): Promise<Sample> {
  const usedBuilds = await readUsedBuilds(postgres, parsed)
  const isOfIntent = await isPredictive(postgres, parsed, [...usedBuilds.values()])
  const meter = isOfIntent ? 'audience_predictive' : 'audience'
  const isLive = mode === 'live'
  if (isLive && isOfChosenPeople(parsed, (await readRules(postgres, organizationId)).version > 0))
    return { sample: [], estimate: null, meter }
  const ofAll = {
    organizationId,
    parsed: { ...parsed, limit: null },
    today: dayOf(nowMs),
    intentWindowDays,
    hiddenFrom: everywhere,
    erased: await erasedHems(postgres, everywhere),
  }
  const isNarrow = async (below: number | null) =>
    isLive && (await singlesOut(queryExecutor, { ...ofAll, below }).catch(asTooHeavy))
  const some = await shareOf(queryExecutor, parsed.entity)
  // An estimate depends on the people of the sample, so few people there are as bad as few people at all.
  const below = some !== null && (await isNarrow(some)) ? null : some
  if (below === null && (await isNarrow(null))) return { sample: [], estimate: null, meter }
  const [found] = await queryExecutor.rows<{ count: number; members: string[] }>(
    sampleQuery({
      ...ofAll,
      projectId,
      below,
      rows: rowsMax,
      alikeMin: isLive ? alikeMin : 1,
      leafIds: leafIdsOf(projectId, parsed),
      asOfMs: nowMs,
      usedBuilds,
      usedLists: await readUsedLists(postgres, parsed),
      unseen: {
        erased: await erasedHems(postgres, organizationId),
        salt: isLive ? randomUUID() : '',
      },
    }),
  )
  const { count, members } = found!
  const estimate = estimateOf(count, below, parsed.limit)
  const isShown = !isLive || estimateOf(count, below, null).low >= sampleMembersMin
  const shown = isShown ? members.slice(0, parsed.limit ?? rowsMax) : []
  const rows =
    parsed.entity === 'people'
      ? await peopleRows(queryExecutor, organizationId, shown)
      : await readCompanies(queryExecutor, shown)
  return { sample: rows.map(coarseRow), estimate, meter }
}

/** Among too many people to read all of them, an estimate is omitted like one of few people. */
function asTooHeavy(error: unknown): true {
  if (error instanceof ApiError && error.error === 'query_too_heavy') return true
  throw error
}

/** Returns how many of 65,536 shares contain about as many members as are checked; null for all. */
async function shareOf(queryExecutor: QueryExecutor, entity: Entity): Promise<number | null> {
  const counts =
    entity === 'people'
      ? [profileCount, 'SELECT count() FROM identity_links']
      : ['SELECT count() FROM companies']
  const [found] = await queryExecutor.rows<{ count: number }>({
    sql: `SELECT ${counts.map((count) => `(${count})`).join(' + ')} AS count`,
    params: {},
  })
  const { count } = found!
  return count <= lookedAt ? null : Math.max(1, Math.floor((sharesAll * lookedAt) / count))
}

type Row = Record<string, unknown>

async function peopleRows(
  queryExecutor: QueryExecutor,
  organizationId: string,
  hems: readonly string[],
): Promise<Row[]> {
  const people = await readPeople(queryExecutor, organizationId, hems, null)
  const nothing = Object.fromEntries(personFields.map(({ name }) => [name, null]))
  return hems.map((hem) => {
    const known = people.get(hem)
    return known ? (JSON.parse(known.toString()) as Row) : { ...nothing, hem }
  })
}
