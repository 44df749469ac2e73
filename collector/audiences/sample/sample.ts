import type { Reader } from '../../access/reader.ts'
import { readCompanies } from '../../people/identity/companies.ts'
import { personFields, readPeople } from '../../people/identity/people.ts'
import { profileCount } from '../../people/identity/profileSql.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { erasedHems } from '../../query/hiddenPeople.ts'
import { leafIdsOf } from '../build/plan.ts'
import { isPredictive, readUsedBuilds } from '../build/usedBuilds.ts'
import { readUsedLists } from '../build/usedLists.ts'
import { countIsSold, isOfChosenPeople } from '../definition/countIsSold.ts'
import type { Entity, Parsed } from '../definition/definition.ts'
import { type Estimate, estimateOf, sharesAll } from './estimate.ts'
import { maskRow } from './mask.ts'
import { dayOf, sampleQuery } from './sampleQuery.ts'

/** Most rows of a sample (spec: Errors and limits). */
const rowsMax = 25
/** So many people or companies are looked at, about. */
const lookedAt = 50_000
/**
 * Live, a row is shown only of who meets the same leaves as at least four others: a definition that tells one person
 * apart, such as by name and company, learns nothing of them for free. What test keys see is made up.
 */
const alikeMin = { live: 5, test: 1 } as const

/** What a sample tells. */
export interface Sample {
  readonly sample: Record<string, unknown>[]
  /** Null where the number is sold (`countIsSold`). */
  readonly estimate: Estimate | null
  /** What reading the members would be charged on. */
  readonly meter: 'audience' | 'audience_predictive'
}

/**
 * Some members of what a definition would be, masked, and an estimate of how many it would have. Where there are many
 * people it looks at those alone whose hems are in a range. Throws what readers throw, and AudienceNotBuilt.
 */
export async function takeSample(
  { reader, postgres, nowMs }: { reader: Reader; postgres: Queryable; nowMs: number },
  { organizationId, projectId, mode }: { organizationId: string; projectId: string; mode: 'live' | 'test' },
  parsed: Parsed,
  intentWindowDays: number,
): Promise<Sample> {
  const below = await shareOf(reader, parsed.entity)
  const usedBuilds = await readUsedBuilds(postgres, parsed)
  const [found] = await reader.rows<{ count: number; members: string[] }>(
    sampleQuery({
      ...{ organizationId, projectId, below, rows: rowsMax, alikeMin: alikeMin[mode] },
      parsed: { ...parsed, limit: null },
      leafIds: leafIdsOf(projectId, parsed),
      ...{ today: dayOf(nowMs), asOfMs: nowMs, intentWindowDays, usedBuilds },
      usedLists: await readUsedLists(postgres, parsed),
      erased: await erasedHems(postgres, organizationId),
    }),
  )
  const { count, members } = found!
  const isLive = mode === 'live'
  const shown = isLive && isOfChosenPeople(parsed) ? [] : members.slice(0, parsed.limit ?? rowsMax)
  const rows =
    parsed.entity === 'people'
      ? await peopleRows(reader, organizationId, shown)
      : await readCompanies(reader, shown)
  const isOfIntent = await isPredictive(postgres, parsed, [...usedBuilds.values()])
  return {
    sample: rows.map(maskRow),
    estimate: isLive && countIsSold(parsed) ? null : estimateOf(count, below, parsed.limit),
    meter: isOfIntent ? 'audience_predictive' : 'audience',
  }
}

/** How many of 65,536 shares hold about as many as are looked at; null for all of them. */
async function shareOf(reader: Reader, entity: Entity): Promise<number | null> {
  const counts =
    entity === 'people'
      ? [profileCount, 'SELECT count() FROM identity_links']
      : ['SELECT count() FROM companies']
  const [found] = await reader.rows<{ count: number }>({
    sql: `SELECT ${counts.map((count) => `(${count})`).join(' + ')} AS count`,
    params: {},
  })
  const { count } = found!
  return count <= lookedAt ? null : Math.max(1, Math.floor((sharesAll * lookedAt) / count))
}

type Row = Record<string, unknown>

async function peopleRows(reader: Reader, organizationId: string, hems: readonly string[]): Promise<Row[]> {
  const people = await readPeople(reader, organizationId, hems, null)
  const nothing = Object.fromEntries(personFields.map(({ name }) => [name, null]))
  return hems.map((hem) => {
    const known = people.get(hem)
    return known ? (JSON.parse(known.toString()) as Row) : { ...nothing, hem }
  })
}
