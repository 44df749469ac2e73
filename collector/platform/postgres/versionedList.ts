import type { Queryable } from './transaction.ts'

/** The list of one owner, which is replaced as a whole. `Name` is its column and its member in answers. */
export type VersionedList<Name extends string, Item> = { [name in Name]: Item[] } & {
  /** 0 if the owner never had a list. */
  version: number
  updated_at: Date | null
}

/** The lists in a table with one row for each owner. */
export const versionedLists = <Name extends string, Item>(
  table: string,
  { owner, list }: { owner: string; list: Name },
) => ({
  async read(client: Queryable, ownerId: string): Promise<VersionedList<Name, Item>> {
    const { rows } = await client.query<VersionedList<Name, Item>>(
      `SELECT ${list}, version, updated_at FROM ${table} WHERE ${owner} = $1`,
      [ownerId],
    )
    const none = { [list]: [], version: 0, updated_at: null }
    return rows[0] ?? (none as unknown as VersionedList<Name, Item>)
  },
  async replace(
    client: Queryable,
    ownerId: string,
    items: readonly Item[],
  ): Promise<VersionedList<Name, Item>> {
    const { rows } = await client.query<VersionedList<Name, Item>>(
      `INSERT INTO ${table} (${owner}, ${list}) VALUES ($1, $2)
       ON CONFLICT (${owner})
         DO UPDATE SET ${list} = excluded.${list}, version = ${table}.version + 1, updated_at = now()
       RETURNING ${list}, version, updated_at`,
      [ownerId, JSON.stringify(items)],
    )
    return rows[0]!
  },
})
