import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { erasedHems } from '../../events/query/profiles/suppressedPeople.ts'
import { readCompanies } from '../../identity/store/companies.ts'
import { personFields, readPeople } from '../../identity/store/people.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { leafIdsOf } from '../builder/leafDays.ts'
import { isPredictive, readUsedBuilds, readUsedLists } from '../builder/usedObjects.ts'
import { leavesOf, meaningOf, type Parsed, type Tree } from '../definition/definition.ts'
import { freeRowsSalt, maskRow, namedPeopleMin } from './mask.ts'
import { dayOf, sampleQuery } from './sampleQuery.ts'

export interface Sample {
  /** Masked rows of the first members. */
  readonly sample: Record<string, unknown>[]
  /** The number of members of a build now. */
  readonly count: number
  /** The meter that reading the members would charge. */
  readonly meter: 'audience' | 'audience_predictive'
}

/**
 * Counts the members that a build of a definition would have now, and returns masked rows of some of them. A definition
 * that names fewer than 25 people, by lists or audiences, has no rows. Throws the errors of readers, and
 * MissingReference.
 */
export async function takeSample(
  {
    queryExecutor,
    postgres,
    nowMs,
  }: { queryExecutor: QueryExecutor; postgres: Queryable; nowMs: number },
  { organizationId, projectId }: { organizationId: string; projectId: string },
  parsed: Parsed,
  intentWindowDays: number,
): Promise<Sample> {
  const usedBuilds = await readUsedBuilds(postgres, parsed)
  const isOfIntent = await isPredictive(postgres, parsed, [...usedBuilds.values()])
  const [answer] = await queryExecutor.rows<{ count: number; members: string[] }>(
    sampleQuery({
      organizationId,
      projectId,
      parsed,
      intentWindowDays,
      today: dayOf(nowMs),
      asOfMs: nowMs,
      leafIds: leafIdsOf(projectId, parsed),
      usedBuilds,
      usedLists: await readUsedLists(postgres, parsed),
      erased: await erasedHems(postgres, organizationId),
      salt: freeRowsSalt(nowMs, [projectId, meaningOf(parsed), intentWindowDays]),
    }),
  )
  const { count, members } = answer!
  const shown = (await namesFew(postgres, parsed, usedBuilds)) ? [] : members
  const rows =
    parsed.entity === 'people'
      ? await peopleRows(queryExecutor, organizationId, shown)
      : await readCompanies(queryExecutor, shown)
  return {
    sample: rows.map(maskRow),
    count,
    meter: isOfIntent ? 'audience_predictive' : 'audience',
  }
}

/** Whether lists or audiences in a definition of people name fewer people than a sample may show. */
async function namesFew(
  postgres: Queryable,
  parsed: Parsed,
  usedBuilds: ReadonlyMap<string, string>,
): Promise<boolean> {
  if (parsed.entity !== 'people') return false
  const { rows } = await postgres.query<{ id: string; count: number }>(
    `SELECT list_id AS id, count::float8 AS count FROM lists WHERE list_id = ANY($1) AND kind <> 'domains'
     UNION ALL
     SELECT audience_id, count::float8 FROM audience_builds WHERE build_id = ANY($2)`,
    [leavesOf(parsed, 'list').map(({ leaf }) => leaf.listId), [...usedBuilds.values()]],
  )
  const sizes = new Map(rows.map(({ id, count }) => [id, count]))
  const peopleMax = namedPeople(parsed, (leaf) => {
    const id =
      leaf.kind === 'list' ? leaf.listId : leaf.kind === 'audience' ? leaf.audienceId : null
    return (id === null ? undefined : sizes.get(id)) ?? Number.POSITIVE_INFINITY
  })
  return peopleMax < namedPeopleMin
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
    const json = people.get(hem)
    return json ? (JSON.parse(json.toString()) as Row) : { ...nothing, hem }
  })
}

/**
 * Returns how many people a definition names at most, by lists and audiences. It is Infinity if its people need not be in
 * any. `sizeOf` is the number of people of a leaf, Infinity for leaves of other kinds.
 *
 * Example: `{ all: [{ list: 7 people }, { profile }] }` describes at most 7.
 */
export function namedPeople(
  { include, leaves }: Pick<Parsed, 'include' | 'leaves'>,
  sizeOf: (leaf: Parsed['leaves'][number]) => number,
): number {
  const peopleMaxOf = (tree: Tree): number => {
    if ('leaf' in tree) return sizeOf(leaves[tree.leaf]!)
    if ('not' in tree) return Number.POSITIVE_INFINITY
    return 'all' in tree
      ? Math.min(...tree.all.map(peopleMaxOf))
      : tree.any.reduce((sum, one) => sum + peopleMaxOf(one), 0)
  }
  return peopleMaxOf(include)
}
