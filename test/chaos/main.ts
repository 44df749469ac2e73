import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual, type ParseArgsConfig, parseArgs } from 'node:util'
import { startLocalClickHouse } from '../../collector/platform/clickhouse/local.ts'
import { startLocalPostgres } from '../../collector/platform/postgres/local.ts'
import { startNatsServers } from '../harness/natsServers.ts'
import { startShards } from '../harness/shards.ts'
import { isChargedOnce, runBilling } from './billing.ts'
import { type ClusterOptions, isOnce, type Mishap, mishaps, runCluster } from './cluster.ts'
import { runDiskFull } from './diskFull.ts'
import { runExports } from './exports.ts'
import { runImports } from './imports.ts'
import { type KillKind, killKinds, runChaos } from './kills.ts'
import { runOutage } from './outage.ts'
import { runPages } from './pages.ts'
import { runPoison } from './poison.ts'
import { killNow } from './processes.ts'
import { runReset } from './reset.ts'
import type { Stores } from './scenario.ts'
import { runSoak } from './soak.ts'
import { formatTable } from './table.ts'
import { runUpgrade } from './upgrade.ts'

const help = `Usage: npm run chaos -- [scenario] [options]

  --scenario kills   (default) kill parts of the service at random moments
      --kills 200 --rate 500 --connections 12 --workers 2 --kinds ${killKinds.join(',')}
  --scenario reset   lose ClickHouse's answer after it committed: --resets 100
  --scenario outage  ClickHouse away: --minutes 10 --rate 5000
  --scenario disk    the spool's disk full (root only): --minutes 0.5
  --scenario poison  rows that ClickHouse refuses
  --scenario soak    steady load: --minutes 60 --rate 1000
  --scenario billing what is charged against what is delivered: --requests 10000 --connections 20 --kills 12
  --scenario pages   records of an audience's builds against what is charged: --requests 10000 --connections 20 --kills 12
  --scenario cluster several collectors and processes of the API: --kills 200 --collectors 3 --apis 2 --shards 1 --rate 300
      --mishaps ${mishaps.join(',')}
      nats and disk start three servers of NATS for the log
  --scenario upgrade collectors replaced by this version, one after the other:
      --from DIR (a checkout of the version before, built) --collectors 3 --rate 300
  --scenario exports an audience sent to a destination that fails at random: --kills 200
  --scenario imports files imported into lists, killed in the midst of them: --kills 100
  --seed N           the same random moments again

Exit code 1 when an acknowledged event was lost, doubled or altered, or a record not charged once.`

const optionTypes = {
  scenario: { type: 'string', default: 'kills' },
  seed: { type: 'string' },
  kills: { type: 'string' },
  kinds: { type: 'string', default: killKinds.join(',') },
  mishaps: { type: 'string', default: 'collector,worker,pause,clickhouse,postgres' },
  collectors: { type: 'string', default: '3' },
  apis: { type: 'string', default: '2' },
  shards: { type: 'string', default: '1' },
  connections: { type: 'string' },
  from: { type: 'string' },
  requests: { type: 'string', default: '10000' },
  workers: { type: 'string', default: '2' },
  resets: { type: 'string', default: '100' },
  minutes: { type: 'string' },
  rate: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const satisfies ParseArgsConfig['options']

const { values: flags, positionals } = parseArgs({ options: optionTypes, allowPositionals: true })
const scenario = positionals[0] ?? flags.scenario
const startedAt = Date.now()
const log = (line: string) =>
  console.error(`+${((Date.now() - startedAt) / 1000).toFixed(1)} s ${line}`)

if (flags.help) console.log(help)
else await main()

async function main(): Promise<void> {
  const seed = flags.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(flags.seed)
  log(`scenario ${scenario}, seed ${seed}`)
  const result = await runScenario(scenario, seed)
  console.log(formatTable(result))
  const isWrong =
    'feedMissed' in result
      ? !isOnce(result)
      : 'uncounted' in result
        ? result.lost + result.uncounted + result.overcharged + result.unpaid > 0 ||
          result.sentAgain > result.sentAgainMax
        : 'lost' in result
          ? result.lost + result.doubled + result.altered > 0 ||
            ('figures' in result && !isDeepStrictEqual(result.figures, result.expected))
          : 'wrongBuilds' in result
            ? result.wrongBuilds > 0
            : 'charged' in result && !isChargedOnce(result)
  if (isWrong) process.exitCode = 1
}

async function runScenario(scenario: string, seed: number) {
  const own = { seed, log, stores: {} }
  const rate = (fallback: number) => Number(flags.rate ?? fallback)
  const minutes = (fallback: number) => Number(flags.minutes ?? fallback)
  switch (scenario) {
    case 'kills':
      return runChaos({
        seed,
        log,
        kills: Number(flags.kills ?? 200),
        rate: rate(500),
        connections: Number(flags.connections ?? 12),
        workers: Number(flags.workers),
        kinds: flags.kinds.split(',').map(killKind),
      })
    case 'reset':
      return withClickHouse((clickhouseUrl) =>
        runReset({ ...own, stores: { clickhouseUrl }, resets: Number(flags.resets) }),
      )
    case 'outage':
      return withClickHouse((clickhouseUrl) =>
        runOutage({
          ...own,
          stores: { clickhouseUrl },
          rate: rate(5_000),
          outageMs: minutes(10) * 60_000,
          warmUpMs: 30_000,
        }),
      )
    case 'disk':
      return runDiskFull({ ...own, fullMs: minutes(0.5) * 60_000 })
    case 'poison':
      return runPoison(own)
    case 'billing':
      return withClickHouse((clickhouseUrl) =>
        runBilling({
          ...own,
          stores: { clickhouseUrl },
          requests: Number(flags.requests),
          connections: Number(flags.connections ?? 20),
          kills: Number(flags.kills ?? 12),
        }),
      )
    case 'pages':
      return withStores((stores) =>
        runPages({
          ...own,
          stores,
          pages: Number(flags.requests),
          connections: Number(flags.connections ?? 20),
          kills: Number(flags.kills ?? 12),
          builds: 5,
          people: 5_000,
        }),
      )
    case 'cluster': {
      const asked = flags.mishaps.split(',').map(mishapOf)
      return withStores(
        (stores, killStore, { takeAway, restoreLog }) =>
          runCluster({
            ...own,
            stores,
            killStore,
            restoreLog,
            ...(asked.includes('shard') && { takeAway }),
            rate: rate(300),
            kills: Number(flags.kills ?? 200),
            collectors: Number(flags.collectors),
            apis: Number(flags.apis),
            connections: Number(flags.connections ?? 12),
            mishaps: asked,
            pauseMsMax: 20_000,
          }),
        // Without NATS, an event is on one disk until it is shipped.
        { shards: Number(flags.shards), hasNats: asked.includes('nats') || asked.includes('disk') },
      )
    }
    case 'upgrade':
      if (!flags.from)
        throw new Error('--from DIR is missing: a built checkout of the version before')
      return withStores((stores) =>
        runUpgrade({
          ...own,
          stores,
          from: resolve(flags.from!),
          rate: rate(300),
          stageMs: 10_000,
          collectors: Number(flags.collectors),
          connections: Number(flags.connections ?? 12),
        }),
      )
    case 'exports':
      return withStores((stores) =>
        runExports({ ...own, stores, kills: Number(flags.kills ?? 200), people: 20_000 }),
      )
    case 'imports':
      return withStores((stores) =>
        runImports({ ...own, stores, kills: Number(flags.kills ?? 100), lines: 1_000_000 }),
      )
    case 'soak':
      return runSoak({ ...own, minutes: minutes(60), rate: rate(1_000) })
    default:
      throw new Error(`there is no scenario ${scenario}; see --help`)
  }
}

function killKind(name: string): KillKind {
  const kind = killKinds.find((candidate) => candidate === name)
  if (!kind) throw new Error(`--kinds takes ${killKinds.join(', ')}, not ${name}`)
  return kind
}

function mishapOf(name: string): Mishap {
  const mishap = mishaps.find((candidate) => candidate === name)
  if (!mishap) throw new Error(`--mishaps takes ${mishaps.join(', ')}, not ${name}`)
  return mishap
}

/** A ClickHouse of the scenario's own, so that something can stand between it and the service. */
async function withClickHouse<T>(scenario: (clickhouseUrl: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-chaos-clickhouse-'))
  const clickhouse = await startLocalClickHouse(directory, log)
  try {
    return await scenario(clickhouse.url)
  } finally {
    await clickhouse.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

type KillStore = (store: 'clickhouse' | 'postgres' | 'nats') => Promise<void>
type StoreControl = Required<Pick<ClusterOptions, 'takeAway' | 'restoreLog'>>

/**
 * The stores, which outlive the service: a PostgreSQL, and a ClickHouse of so many shards, of which any is killed. Perhaps
 * also three servers of NATS, of which two are always there.
 */
async function withStores<T>(
  scenario: (stores: Stores, kill: KillStore, own: StoreControl) => Promise<T>,
  { shards: shardCount = 1, hasNats = false } = {},
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-chaos-stores-'))
  const [{ servers, env, takeAway, stop }, postgres, nats] = await Promise.all([
    startShards(join(directory, 'clickhouse'), shardCount, { onRestart: log }),
    startLocalPostgres(join(directory, 'postgres'), log),
    hasNats ? startNatsServers() : null,
  ])
  const stores = {
    databaseUrl: postgres.url,
    ...(shardCount === 1 ? { clickhouseUrl: servers[0]!.url } : { shards: env }),
    ...(nats && {
      nats: {
        NATS_URL: nats.urls.join(),
        // An event on a deleted disk must not be acknowledged from that disk alone.
        FOOTFALL_LOG_AWAY: 'refuse',
      },
    }),
  }
  let kills = 0
  const kill: KillStore = async (store) => {
    if (store === 'nats') {
      await nats!.startAgain()
      return nats!.kill(kills++ % nats!.urls.length)
    }
    const killed = store === 'postgres' ? postgres : servers[kills++ % shardCount]!
    killNow(killed.pid()!)
  }
  try {
    const restoreLog = async () => nats?.startAgain()
    return await scenario(stores, kill, { takeAway, restoreLog })
  } finally {
    await Promise.all([stop(), postgres.stop(), nats?.stop()])
    rmSync(directory, { recursive: true, force: true })
  }
}
