import type { Queryable } from '../../platform/postgres/transaction.ts'

/** Reads the hosts of all projects that start no session, each as `project_id host`: the parameter of appendHitsSql. */
export async function readTransitHosts(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{ entry: string }>(
    `SELECT project_id || ' ' || host AS entry FROM projects, unnest(transit_hosts) AS host`,
  )
  return rows.map(({ entry }) => entry)
}
