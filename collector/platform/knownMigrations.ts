import { StartError } from './startError.ts'

/**
 * Throws StartError if a store has migrations that this version does not. The order of names does not show which version
 * is newer, because branches add numbers below those of others.
 */
export function requireKnownMigrations(
  store: string,
  ours: readonly string[],
  recorded: Iterable<string>,
): void {
  const unknown = [...recorded].filter((name) => !ours.includes(name)).sort()
  if (unknown.length > 0)
    throw new StartError(
      `another version of Footfall has migrated ${store} (${unknown.join(', ')}); run that version, restore a backup of this one, or start with an empty database`,
    )
}
