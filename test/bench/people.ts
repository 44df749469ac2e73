import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { type Graph, profileAt } from '../../collector/identity/generate/index.ts'
import { reloadIdentity } from '../../collector/identity/store/refresh.ts'
import type { Demo } from '../../collector/ops/demo/demo.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { cookieSql, optimize } from './events.ts'
import type { Store } from './pages.ts'

const graph: Graph = { seed: 1, companies: 20_000 }
const profilesPerInsert = 20_000

/**
 * Makes `profiles` people, and has the demo organization know of every second of the cookies 0 to `cookies` - 1 whose
 * it is.
 */
export async function makePeople(
  { url, database }: Store,
  demo: Demo,
  { profiles, cookies }: { profiles: number; cookies: number },
): Promise<void> {
  const clickhouse = openClickHouse(url, database)
  for (let from = 0; from < profiles; from += profilesPerInsert) {
    const indexes = Array.from(
      { length: Math.min(profilesPerInsert, profiles - from) },
      (_, at) => from + at,
    )
    const lines = indexes.map((index) => `${JSON.stringify(profileAt(graph, index))}\n`).join('')
    await clickhouse.insertLines(
      'profiles',
      Readable.from([lines], { objectMode: false }),
      randomUUID(),
    )
  }
  await clickhouse.command({
    sql: `
      INSERT INTO identity_links (organization_id, cookie_id, hem, observed_at, stored_at)
      SELECT {organization:UUID}, ${cookieSql('cookie * 2')}, hem, now64(3), now64(3) - INTERVAL 2 HOUR
      FROM (SELECT number AS cookie, number % {profiles:UInt64} AS at FROM numbers({linked:UInt64})) AS linked
      JOIN (SELECT hem, rowNumberInAllBlocks() AS at FROM profiles) AS people USING at`,
    params: { organization: demo.organization_id, profiles, linked: Math.ceil(cookies / 2) },
  })
  for (const table of ['profiles', 'profile_rows', 'identity_links'])
    await optimize({ url, database }, table)
  await reloadIdentity(clickhouse)
  await clickhouse.close()
}
