import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { writeGraph } from '../../collector/identity/generate/files.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { withoutLimits } from '../chaos/scenario.ts'
import { type Service, startService } from '../harness/service.ts'
import { cookieSql, optimize } from './events.ts'
import { loadFile, measureLoading } from './loading.ts'
import { measureLookup } from './lookup.ts'
import { readStore, type Store } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { counts, makeVisits, pages } from './tiers.ts'
import { measureVisitors } from './visitors.ts'

const cookiesShare = 0.1
const profilesShare = 0.05
const companiesShare = 0.001
const seed = 1

/** Content of a data directory. */
interface Made {
  newestMs: number
  /** How long each step took, seconds. */
  seconds: Record<string, number>
}

/**
 * Reads at every tier, visitors, counts and loading, with a store of the given size and one of a tenth, which
 * are created once.
 */
export async function identity(bench: Bench): Promise<Row[]> {
  const { events } = bench.identity
  return [...(await measureStore(bench, events / 10)), ...(await measureStore(bench, events))]
}

async function measureStore(bench: Bench, events: number): Promise<Row[]> {
  const directory = join(bench.identity.directory, String(events))
  mkdirSync(directory, { recursive: true })
  const service = await startService({
    env: { ...withoutLimits, FOOTFALL_WORKERS: '1' },
    dataDir: join(directory, 'service'),
  })
  try {
    const store = readStore(service)
    const made = await fill(bench, service, store, directory, events)
    const sized: Bench = { ...bench, sizes: { ...bench.sizes, events } }
    const clickhouse = openClickHouse(store.url, store.database)
    const rows = [
      { what: 'made', value: '', target: '', detail: formatSeconds(made.seconds) },
      ...(await pages(sized, store, service, clickhouse, made.newestMs)),
      await counts(sized, store, service, made.newestMs, null),
      await counts(sized, store, service, made.newestMs, 'resolved:eq:true'),
      ...(await measureVisitors(service, store, made.newestMs, bench.repeats)),
      await measureLookup(service, store, bench.repeats, events * profilesShare),
      await measureLoading(bench, store, join(directory, 'graph/profiles.ndjson'), directory),
    ]
    await clickhouse.close()
    return rows.map((row) => ({ ...row, what: `${events / 1e6} M events: ${row.what}` }))
  } finally {
    await service.end('SIGTERM')
  }
}

const formatSeconds = (seconds: Record<string, number>): string =>
  Object.entries(seconds)
    .map(([step, took]) => `${step} ${took.toFixed(0)} s`)
    .join(', ')

/** Fills the service's stores, if they are not filled yet. */
async function fill(
  { log }: Bench,
  service: Service,
  store: Store,
  directory: string,
  events: number,
): Promise<Made> {
  const facts = join(directory, 'made.json')
  if (existsSync(facts)) return JSON.parse(readFileSync(facts, 'utf8'))
  const [cookies, profiles] = [events * cookiesShare, events * profilesShare]
  const made: Made = { newestMs: Date.now(), seconds: {} }
  const timed = async (step: string, run: () => Promise<unknown>) => {
    log(step)
    const startedAt = performance.now()
    await run()
    made.seconds[step] = (performance.now() - startedAt) / 1_000
  }
  const graph = join(directory, 'graph')
  const [people, links] = [join(graph, 'profiles.ndjson'), join(graph, 'cookies.ndjson')]
  if (!existsSync(people)) {
    const companies = events * companiesShare
    await timed('making up people', () =>
      writeGraph(graph, seed, { profiles, cookies: 1, companies }),
    )
  }
  for (const target of ['companies', 'networks'])
    await timed(`loading ${target}`, () =>
      loadFile(service.dataDir, join(graph, `${target}.ndjson`), target),
    )
  await timed(`loading ${profiles} profiles`, () => loadFile(service.dataDir, people, 'profiles'))
  await writeLinks(store, { cookies, profiles }, links)
  await timed(`loading ${cookies} links`, () => loadFile(service.dataDir, links, 'links'))
  // Every second visitor is known.
  await timed(`making ${events} events`, () =>
    makeVisits(store, service.demo, { events, cookies: cookies * 2 }, made.newestMs),
  )
  for (const table of ['profiles', 'profile_rows', 'identity_links']) await optimize(store, table)
  writeFileSync(facts, JSON.stringify(made))
  return made
}

/** Links of every second cookie, as a file to load: each of somebody who has a profile. */
async function writeLinks(
  { url, database }: Store,
  { cookies, profiles }: { cookies: number; profiles: number },
  path: string,
): Promise<void> {
  const clickhouse = openClickHouse(url, database)
  const { body } = await clickhouse.stream(
    {
      sql: `SELECT ${cookieSql('cookie * 2')} AS cookie_id, hem
            FROM (SELECT number AS cookie, number % {profiles:UInt64} AS at FROM numbers({cookies:UInt64})) AS cookies
            JOIN (SELECT hem, rowNumberInAllBlocks() AS at FROM profiles) AS people USING at`,
      params: { profiles, cookies },
    },
    'JSONEachRow',
  )
  await pipeline(body, createWriteStream(path))
  await clickhouse.close()
}
