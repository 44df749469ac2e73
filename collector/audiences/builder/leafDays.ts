import { eventColumns } from '../../../schemas/fields.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { uuidOfText } from '../../platform/uuidOfDigest.ts'
import type { EventLeaf, Parsed } from '../definition/definition.ts'

/** Retention of counts: shorter than the TTL of their rows (003_audiences.sql). */
const keptDays = 28

/**
 * A row of PostgreSQL's `audience_leaf_days`: the valid run of a leaf on one day, null where the day has no event.
 * ClickHouse's table of this name has the counts, under `run_id`.
 */
export interface LeafDay {
  readonly leaf_id: string
  /** Day since 1970 (UTC). */
  readonly day: number
  readonly run_id: string | null
  readonly fingerprint: string | null
}

/** Returns the valid counts of these leaves from a day on. */
export async function readLeafDays(
  client: Queryable,
  leafIds: readonly string[],
  fromDay: number,
): Promise<LeafDay[]> {
  const { rows } = await client.query<LeafDay>(
    `SELECT leaf_id, day - '1970-01-01'::date AS day, run_id, fingerprint FROM audience_leaf_days
     WHERE leaf_id = ANY($1) AND day >= '1970-01-01'::date + $2::int
       AND counted_at > now() - interval '${keptDays} days'`,
    [leafIds, fromDay],
  )
  return rows
}

/** `fingerprints` were read before the days were counted. */
export async function noteLeafDays(
  client: Queryable,
  projectId: string,
  days: readonly LeafDay[],
): Promise<void> {
  await client.query(
    `INSERT INTO audience_leaf_days (leaf_id, day, project_id, run_id, fingerprint)
     SELECT leaf_id, '1970-01-01'::date + day, $1, run_id, fingerprint
     FROM unnest($2::uuid[], $3::int[], $4::uuid[], $5::text[]) AS counted (leaf_id, day, run_id, fingerprint)
     ON CONFLICT (leaf_id, day)
       DO UPDATE SET run_id = excluded.run_id, fingerprint = excluded.fingerprint, counted_at = now()`,
    [
      projectId,
      days.map(({ leaf_id }) => leaf_id),
      days.map(({ day }) => day),
      days.map(({ run_id }) => run_id),
      days.map(({ fingerprint }) => fingerprint),
    ],
  )
}

const stored = new Set(
  eventColumns.filter(({ alias }) => !alias || alias.includes('ts_millis')).map(({ name }) => name),
)

/**
 * Returns the id of an event leaf's counts. It is equal for all leaves of a project that count the same
 * events, with any minimum and any number of days.
 */
export const leafIdOf = (projectId: string, { counted }: EventLeaf): string =>
  uuidOfText(`${projectId} ${counted}`)

/** Returns the ids of event leaves by their index among the leaves. */
export const leafIdsOf = (projectId: string, { leaves }: Parsed): ReadonlyMap<number, string> =>
  new Map(
    leaves.flatMap((leaf, index) =>
      leaf.kind === 'event' ? [[index, leafIdOf(projectId, leaf)]] : [],
    ),
  )

/** Whether a day's counts depend only on its events, and not on sessions or identities. */
export const isOfEventsAlone = ({ filters }: EventLeaf): boolean =>
  filters.every(({ field }) => field === undefined || stored.has(field.name))
