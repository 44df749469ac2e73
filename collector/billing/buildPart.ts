import type { Postgres } from '../platform/postgres/pool.ts'

/** Keys above `after` up to `upTo`. */
export interface KeySpan {
  readonly after: number
  readonly upTo: number
}

/**
 * Some of the records of an audience's build. Each person is charged once on a UTC day, for all builds of the audience
 * on one meter, and all reads. A build that was read completely is charged only once (spec: Metering 8).
 */
export interface BuildPart {
  readonly buildId: string
  /** The keys of the records. The rows are read after the admission; `settle` may receive fewer keys. */
  readonly keys: readonly KeySpan[]
  /** Finds the keys in this build of the people who have these keys in another build of the audience. */
  readonly findMembers: (
    fromBuildId: string,
    keys: readonly KeySpan[],
  ) => Promise<readonly KeySpan[]>
}

/** Charges of other builds that a build does not include yet: by build id, int8multiranges of their keys. */
export type Uncarried = Readonly<Record<string, string>>

/** Returns how many records of a part of a build a charge would cost now: those that were not charged on this day. */
export async function countUnpaid(
  postgres: Postgres,
  organizationId: string,
  build: BuildPart,
  idempotency: string | null,
  atMs: number,
): Promise<number> {
  const at = new Date(atMs)
  const read = async () => {
    const { rows } = await postgres.query<{ uncarried: Uncarried | null; unpaid: number }>({
      name: 'unpaid_keys',
      text: `SELECT keys_to_carry($1, $2) AS uncarried, coalesce(sum(upper(span) - lower(span)), 0)::float8 AS unpaid
             FROM unnest($4::int8multirange - free_keys($1, $2, $3)) AS span`,
      values: [build.buildId, at, idempotency, multirangeOf(build.keys)],
    })
    return rows[0]!
  }
  const { uncarried, unpaid } = await read()
  if (uncarried === null) return unpaid
  await carryKeys(postgres, organizationId, build, uncarried, at)
  return (await read()).unpaid
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
    const members = await findMembers(fromBuildId, spansOf(keys))
    await postgres.query('SELECT carry_keys($1, $2, $3, $4, $5, $6)', [
      organizationId,
      buildId,
      at,
      fromBuildId,
      keys,
      multirangeOf(members),
    ])
  }
}

/** Formats the keys as a PostgreSQL int8multirange. */
export const keysOf = ({ keys }: BuildPart): string => multirangeOf(keys)

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
