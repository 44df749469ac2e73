import type { Postgres } from '../platform/postgres/pool.ts'

/**
 * Some of the records of an audience's build. Each is charged once on a UTC day, whoever reads it how often, and all of
 * them once for good when the whole is (spec: Metering 8).
 */
export interface BuildPart {
  readonly buildId: string
  /**
   * The range of keys that is read, `after` exclusive; absent where the records lie scattered. `settle` is told the
   * keys of the records as their hashes; without any it is told that the whole build is given.
   */
  readonly keys?: { readonly after: number; readonly upTo: number }
}

/** Whether all that a part of a build may hold was charged already: nothing more is to be had then. */
export async function isFree(
  postgres: Postgres,
  build: BuildPart | undefined,
  idempotency: string | null,
  atMs: number,
): Promise<boolean> {
  if (!build?.keys) return false
  const { rows } = await postgres.query<{ is_free: boolean }>(
    'SELECT free_keys($1, $2, $3) @> $4::int8multirange AS is_free',
    [build.buildId, new Date(atMs), idempotency, keysOf(build)],
  )
  return rows[0]!.is_free
}

/** As PostgreSQL writes an int8multirange. */
export const keysOf = ({ keys }: BuildPart): string | null => (keys ? `{(${keys.after},${keys.upTo}]}` : null)
