import { StartError } from './startError.ts'

/**
 * An older version must not run on a newer schema: it would write what the newer one no longer expects. `store` is its
 * name; `applied` are the migrations that the store has had, `ours` those of this version, which sort by their number.
 * Throws StartError.
 */
export function refuseNewerSchema(
  store: string,
  applied: Iterable<string>,
  ours: readonly string[],
): void {
  const newest = [...ours].sort().at(-1) ?? ''
  const newer = [...applied].filter((name) => name > newest).sort()
  if (newer.length === 0) return
  throw new StartError(
    `a newer version of Footfall has migrated ${store} (${newer.join(', ')}); run that version, or restore a backup from before the upgrade`,
  )
}
