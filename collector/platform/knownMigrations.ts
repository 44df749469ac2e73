import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from './startError.ts'

/**
 * Returns the migrations in a directory, in order: the name of each file and a digest of its statements, such as
 * `001_people.sql@0f3a91c2b7d4`. A released file never changes, so a store that was made from other statements belongs to
 * an unreleased version, and is refused. Comments do not count.
 */
export const migrationsOf = (directory: string): string[] =>
  readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => `${file}@${digestOf(readFileSync(join(directory, file), 'utf8'))}`)

const digestOf = (sql: string): string =>
  createHash('sha256')
    .update(sql.replace(/--.*$/gm, '').replace(/\s+/g, ' '))
    .digest('hex')
    .slice(0, 12)

export const fileOf = (migration: string): string => migration.split('@', 1)[0]!

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
