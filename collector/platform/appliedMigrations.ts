import { StartError } from './startError.ts'

/** The migrations of a store. */
export interface Migrations {
  /** Name of the store. */
  readonly store: string
  /** The migrations of this version, in order. */
  readonly names: readonly string[]
  /** The migrations that create the schema, and the earlier migrations that they replaced. */
  readonly base: { readonly names: readonly string[]; readonly replaced: readonly string[] }
}

/** The last commit that contains the replaced migrations. */
const lastCommitBefore = 'bb76fd97'

/**
 * Returns the migrations of this version that a store with these `recorded` names already has. A store with
 * all replaced migrations has the schema of the base. Throws StartError if this version cannot upgrade the
 * store. An older version must not write to a newer schema. A schema older than the base must first apply the
 * rest of the replaced migrations.
 */
export function appliedMigrations(
  { store, names, base }: Migrations,
  recorded: Iterable<string>,
): Set<string> {
  const found = new Set(recorded)
  // Branches add numbers below those of others, so the order of names does not show which version is newer.
  const known = new Set([...names, ...base.names, ...base.replaced])
  const newer = [...found].filter((name) => !known.has(name)).sort()
  if (newer.length > 0)
    throw new StartError(
      `a newer version of Footfall has migrated ${store} (${newer.join(', ')}); run that version, or restore a backup from before the upgrade`,
    )
  const applied = new Set(names.filter((name) => found.has(name)))
  if (base.names.every((name) => found.has(name))) return applied
  const missing = base.replaced.filter((name) => !found.has(name))
  if (missing.length === base.replaced.length) return applied
  if (missing.length > 0)
    throw new StartError(
      `${store} was last migrated by a version of Footfall that is too old to upgrade from (it lacks ${missing.join(', ')}). First run npx footfall migrate of commit ${lastCommitBefore}, then this version`,
    )
  return new Set([...base.names, ...applied])
}
