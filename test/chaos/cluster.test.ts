import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { dropDatabases, newPostgresDatabase } from '../harness/databases.ts'
import { startShards } from '../harness/shards.ts'
import { isOnce, runCluster } from './cluster.ts'
import { ownStores } from './ownStores.ts'
import { killNow } from './processes.ts'

const seed = 20_260_131
const log = () => {}
afterEach(dropDatabases)

/** One to two minutes on a quiet machine: each starts the service four times or more, and kills it. */
const timeoutMs = 600_000

test(
  'of several collectors behind a balancer each event is stored once and copied once, whichever are killed',
  async () => {
    const result = await runCluster({
      stores: await ownStores(),
      seed,
      log,
      collectors: 2,
      apis: 1,
      kills: 4,
      mishaps: ['collector', 'pause'],
      pauseMsMax: 1_500,
      rate: 200,
      connections: 8,
    })
    expect(isOnce(result), JSON.stringify(result)).toBe(true)
    expect(result.acknowledged).toBeGreaterThan(500)
    expect(result.repeated).toBeGreaterThan(20)
  },
  timeoutMs,
)

test(
  'while a shard is away and a collector is killed, events wait, and nothing is lost or doubled',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'footfall-chaos-away-'))
    const shards = await startShards(directory, 2)
    onTestFinished(async () => {
      await shards.stop()
      rmSync(directory, { recursive: true, force: true })
    })
    const result = await runCluster({
      stores: { shards: shards.env, databaseUrl: await newPostgresDatabase() },
      seed,
      log,
      collectors: 2,
      apis: 1,
      kills: 1,
      mishaps: ['shard'],
      pauseMsMax: 0,
      rate: 200,
      connections: 8,
      takeAway: shards.takeAway,
      shardAwayMs: 20_000,
    })
    expect(isOnce(result), JSON.stringify(result)).toBe(true)
  },
  timeoutMs,
)

test(
  'the same over two shards of ClickHouse, when each of them and a collector are killed; two processes of the API charge a page once',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'footfall-chaos-shards-'))
    const shards = await startShards(directory, 2)
    onTestFinished(async () => {
      await shards.stop()
      rmSync(directory, { recursive: true, force: true })
    })
    const databaseUrl = await newPostgresDatabase()
    let killed = 0
    const result = await runCluster({
      stores: { shards: shards.env, databaseUrl },
      seed,
      log,
      collectors: 2,
      apis: 2,
      kills: 3,
      mishaps: ['clickhouse', 'collector', 'clickhouse'],
      pauseMsMax: 0,
      rate: 200,
      connections: 8,
      killStore: () => killNow(shards.servers[killed++]!.pid()!),
    })
    expect(isOnce(result), JSON.stringify(result)).toBe(true)
    expect(killed).toBe(2)
    expect(result.acknowledged).toBeGreaterThan(200)
    expect(result.asked).toMatchObject({ pages: expect.any(Number), differing: 0 })
    expect(result.asked.records).toBeGreaterThan(1_000)
  },
  timeoutMs,
)
