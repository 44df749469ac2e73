import type { Postgres } from '../platform/postgres/pool.ts'

/** Keys above `after` up to `upTo`. */
export interface KeySpan {
  readonly after: number
  readonly upTo: number
}

/**
 * Some of the records of an audience's build. Each person is charged once on a UTC day, for all builds and
 * reads of the audience. A build that was read completely is charged only once (spec: Metering 8).
 */
export interface BuildPart {
  readonly buildId: string
  /**
   * The keys of the records, if they are known before the read; `settle` receives them as hashes. Without any,
   * it receives the complete build.
   */
  readonly keys?: readonly KeySpan[]
  /**
   * The requested range, if it may extend beyond the last key and the number of members is billed. A read
   * that the budget does not cover is admitted only if this entire range is free. By default, `keys`.
   */
  readonly askedKeys?: KeySpan
  /** Finds the keys in this build of the people who have these keys in another build of the audience. */
  readonly findMembers: (
    fromBuildId: string,
    keys: readonly KeySpan[],
  ) => Promise<readonly KeySpan[]>
}

/** Charges of other builds that a build does not include yet: by build id, int8multiranges of their keys. */
export type Uncarried = Readonly<Record<string, string>>

/** Returns whether all records of a part of a build were already charged, so that reading it is free. */
export async function isFree(
  postgres: Postgres,
  organizationId: string,
  build: BuildPart | undefined,
  idempotency: string | null,
  atMs: number,
): Promise<boolean> {
  if (!build?.keys) return false
  const at = new Date(atMs)
  const found = await postgres.query<{ uncarried: Uncarried | null }>(
    'SELECT keys_to_carry($1, $2) AS uncarried',
    [build.buildId, at],
  )
  await carryKeys(postgres, organizationId, build, found.rows[0]!.uncarried ?? {}, at)
  const { rows } = await postgres.query<{ is_free: boolean }>(
    `SELECT free_keys($1, $2, $3) @> $4::int8multirange OR EXISTS (
       SELECT FROM build_charges WHERE build_id = $1 AND day = 'infinity' AND NOT isempty(keys)) AS is_free`,
    [
      build.buildId,
      at,
      idempotency,
      multirangeOf(build.askedKeys ? [build.askedKeys] : build.keys),
    ],
  )
  return rows[0]!.is_free
}

/** Whether earlier downloads of a build were charged for all records with these keys. */
export async function isDownloadPaid(
  postgres: Postgres,
  buildId: string,
  keys: readonly KeySpan[],
): Promise<boolean> {
  const { rowCount } = await postgres.query(
    `SELECT FROM build_charges WHERE build_id = $1 AND day = 'infinity' AND keys @> $2::int8multirange`,
    [buildId, multirangeOf(keys)],
  )
  return rowCount !== 0
}

/** Carries the charges of the audience's other builds on that UTC day over to a build. */
export async function carryKeys(
  postgres: Postgres,
  organizationId: string,
  { buildId, findMembers }: BuildPart,
  uncarried: Uncarried,
  at: Date,
): Promise<void> {
  for (const [fromBuildId, keys] of Object.entries(uncarried)) {
    const found = await findMembers(fromBuildId, spansOf(keys))
    await postgres.query('SELECT carry_keys($1, $2, $3, $4, $5, $6)', [
      organizationId,
      buildId,
      at,
      fromBuildId,
      keys,
      multirangeOf(found),
    ])
  }
}

/** Formats the keys as a PostgreSQL int8multirange. */
export const keysOf = ({ keys }: BuildPart): string | null => (keys ? multirangeOf(keys) : null)

/** Adjacent keys as spans; `keys` ascend. */
export function spansOfKeys(keys: readonly number[]): KeySpan[] {
  const spans: { after: number; upTo: number }[] = []
  for (const key of keys) {
    const last = spans.at(-1)
    if (last?.upTo === key - 1) last.upTo = key
    else spans.push({ after: key - 1, upTo: key })
  }
  return spans
}

const multirangeOf = (spans: readonly KeySpan[]): string =>
  `{${spans.map(({ after, upTo }) => `(${after},${upTo}]`).join()}}`

/** Reads an int8multirange, whose ranges PostgreSQL writes as [first,end). */
const spansOf = (multirange: string): KeySpan[] =>
  [...multirange.matchAll(/\[(\d+),(\d+)\)/g)].map(([, first, end]) => ({
    after: Number(first) - 1,
    upTo: Number(end) - 1,
  }))
