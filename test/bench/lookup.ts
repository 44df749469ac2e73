import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import type { Service } from '../harness/service.ts'
import { readStore, type Store } from './pages.ts'
import { makePeople } from './people.ts'
import { send } from './recorded.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { median } from './stats.ts'

const items = 10_000

/** A batch of 10,000 people through the API, from the first byte of the request to the last of the answer, p50. */
export function lookup({ repeats, sizes, log }: Bench): Promise<Row> {
  return withService(async (service) => {
    const store = readStore(service)
    log(`making ${sizes.profiles} profiles`)
    await makePeople(store, service.demo, { profiles: sizes.profiles, cookies: 2 })
    return measureLookup(service, store, repeats, sizes.profiles)
  })
}

/** The same of a store that has `profiles` people. */
export async function measureLookup(
  service: Service,
  store: Store,
  repeats: number,
  profiles: number,
): Promise<Row> {
  const clickhouse = openClickHouse(store.url, store.database)
  const address = new URL('/api/v1/lookup/batch', service.url)
  const { api_key, api_secret } = service.demo
  const headers = {
    'x-api-key': api_key,
    'x-api-secret': api_secret,
    'content-type': 'application/json',
  }
  const times: number[] = []
  let bytes = 0
  for (let n = 0; n < repeats + 1; n++) {
    const hems = await clickhouse.rows<{ hem: string }>({
      sql: 'SELECT hem FROM profiles ORDER BY cityHash64(hem, {n:UInt32}) LIMIT {items:UInt32}',
      params: { n, items },
    })
    const answer = await send(address, 'POST', headers, [
      Buffer.from(JSON.stringify({ items: hems })),
    ])
    const { matched } = JSON.parse(answer.body.toString()) as { matched: number }
    if (matched !== hems.length) throw new Error(`${matched} of ${hems.length} people were found`)
    bytes = answer.body.length
    if (n > 0) times.push(answer.ms)
  }
  await clickhouse.close()
  return {
    what: `lookup of ${items} people, p50`,
    value: `${median(times).toFixed(0)} ms`,
    target: '≤ 1500 ms',
    detail: `${times.length} batches of ${(bytes / 1e6).toFixed(0)} MB, of ${profiles} people`,
  }
}
