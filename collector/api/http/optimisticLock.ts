import { conflict } from './errors.ts'

/** Members that change with every update. */
const ownKeys = new Set(['version', 'updated_at'])

/** Throws 409 with the current object if the caller edited an earlier version. Lock the row first. */
export function requireVersion(
  kind: string,
  current: { version: number },
  edited: number | undefined,
): void {
  if (edited === undefined || edited === current.version) return
  throw conflict(
    'version_conflict',
    `Another user changed this object, which is now at version ${current.version}. Reload it and try again.`,
    {
      [kind]: current,
    },
  )
}

/** Returns the differences between an object before and after: `{ name: { from, to } }`. */
export function changesOf<T extends object>(
  before: T,
  after: T,
): Record<string, { from: unknown; to: unknown }> {
  const keys = Object.keys(after).filter((key) => !ownKeys.has(key)) as (keyof T & string)[]
  return Object.fromEntries(
    keys
      .filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
      .map((key) => [key, { from: before[key], to: after[key] }]),
  )
}
