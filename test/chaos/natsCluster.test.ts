import { afterEach, expect, onTestFinished, test } from 'vitest'
import { dropDatabases } from '../harness/databases.ts'
import { startNatsServers } from '../harness/natsServers.ts'
import { isOnce, runCluster } from './cluster.ts'
import { ownStores } from './ownStores.ts'

afterEach(dropDatabases)

/** Collectors start again nine times. */
const timeoutMs = 900_000

test(
  'over a log in NATS each event is stored once, whichever collectors, disks, workers and servers of NATS are lost',
  async () => {
    const nats = await startNatsServers()
    onTestFinished(() => nats.stop())
    let killed = 0
    const result = await runCluster({
      stores: {
        ...(await ownStores()),
        nats: {
          NATS_URL: nats.urls.join(),
          // An event on a deleted disk must not be acknowledged from that disk alone.
          FOOTFALL_LOG_AWAY: 'refuse',
        },
      },
      seed: 20_261_126,
      log: process.env.CHAOS_LOG ? console.log : () => {},
      collectors: 2,
      apis: 1,
      kills: 12,
      mishaps: ['nats', 'worker', 'collector', 'disk'],
      pauseMsMax: 0,
      rate: 200,
      connections: 8,
      // Two of three are always there, and all before a collector is retired: with two, nats-server 2.9.10 may keep its last
      // messages back.
      restoreLog: () => nats.startAgain(),
      async killStore() {
        await nats.startAgain()
        await nats.kill(killed++ % 3)
      },
    })
    expect(isOnce(result), JSON.stringify(result)).toBe(true)
    expect(result.kills).toMatchObject({ nats: 3, disk: 3, worker: 3, collector: 3 })
    expect(result.acknowledged).toBeGreaterThan(500)
    expect(result.repeated).toBeGreaterThan(20)
  },
  timeoutMs,
)
