import { setTimeout as delay } from 'node:timers/promises'
import { type Random, seededRandom } from '../../collector/platform/seededRandom.ts'
import { audit, countRows } from '../chaos/audit.ts'
import { Sender } from '../chaos/sender.ts'
import { ask } from '../harness/api.ts'
import type { Cluster } from '../harness/cluster.ts'
import type { PostgresProxy } from '../harness/postgresProxy.ts'
import { waitFor } from '../harness/service.ts'
import { withTwoCollectors } from './clusters.ts'
import { measureSecond } from './collectors.ts'
import { measureReadable } from './readable.ts'
import type { Bench, Row } from './rows.ts'
import { shards } from './shards.ts'
import { percentile } from './stats.ts'

const rate = 200
const connections = 8
const kills = 3
const killWatchMs = 15_000
const pollMs = 100

/** Two collectors and one api on the same stores: what happens to events and reads while one of them is away. */
export const scale = (bench: Bench): Promise<Row[]> =>
  withTwoCollectors(bench.log, async (cluster, proxy) => {
    const { log, seconds } = bench
    const random = seededRandom(17)
    return [
      await measureLag(cluster),
      await measureTakeover(cluster, random, log),
      await measureRestarts(cluster, random, log),
      await measureOutage(cluster, proxy, random, { seconds: seconds * 12, log }),
      await measureSecond(cluster, bench),
      await shards(bench),
    ]
  })

async function measureLag({ api, collectors }: Cluster): Promise<Row> {
  const waitedMs = await measureReadable(
    api,
    collectors.map(({ url }) => url),
  )
  return {
    what: 'two collectors: accepted → readable, p50 / p99',
    value: `${percentile(waitedMs, 50).toFixed(0)} / ${percentile(waitedMs, 99).toFixed(0)} ms`,
    target: 'p99 ≤ 3,000 ms',
    detail: `${waitedMs.length} events`,
  }
}

/** Waits until all that any collector accepted by now can be read. */
async function untilComplete({ api }: Cluster): Promise<void> {
  const now = Date.now()
  await waitFor(
    'all that was accepted to be readable',
    async () => {
      const answer = await ask(api, '/api/v3/events/web_event?limit=1')
      if (!answer.ok) return false
      const { meta } = (await answer.json()) as { meta: { complete_until: string } }
      return Date.parse(meta.complete_until) > now
    },
    120_000,
  )
}

const send = ({ pixelIds, balancer }: Cluster, random: Random, url = balancer.url) =>
  new Sender({ url, pixelIds, random, rate, connections })

/** The longest time in which no event of the other collector became readable, after one was killed. */
async function measureTakeover(
  cluster: Cluster,
  random: Random,
  log: (line: string) => void,
): Promise<Row> {
  const { api, collectors } = cluster
  const gaps: number[] = []
  for (let kill = 0; kill < kills; kill++) {
    const senders = collectors.map(({ url }) => send(cluster, random, url))
    const [first, second] = senders as [Sender, Sender]
    await waitFor('both to be shipped', async () => ((await countRows(api, second)) ?? 0) > rate)
    await collectors[0]!.end('SIGKILL')
    gaps.push(await longestGap(cluster, second))
    log(`kill ${kill + 1}: nothing readable for ${gaps.at(-1)!.toFixed(0)} ms at most`)
    await cluster.startAgain(0)
    await Promise.all([first.stop(), second.stop()])
    await untilComplete(cluster)
  }
  return {
    what: 'takeover of a collector killed with -9',
    value: `${Math.max(...gaps).toFixed(0)} ms`,
    target: '≤ 10,000 ms',
    detail: `longest of ${kills}: ${gaps.map((gap) => gap.toFixed(0)).join(', ')}`,
  }
}

async function longestGap({ api }: Cluster, sender: Sender): Promise<number> {
  let [longest, before, grownAt] = [0, (await countRows(api, sender)) ?? 0, performance.now()]
  for (
    const until = performance.now() + killWatchMs;
    performance.now() < until;
    await delay(pollMs)
  ) {
    const now = (await countRows(api, sender)) ?? before
    if (now > before) grownAt = performance.now()
    before = now
    longest = Math.max(longest, performance.now() - grownAt)
  }
  return longest
}

/** Each collector is ended in order and started again, while events come through the balancer. */
async function measureRestarts(
  cluster: Cluster,
  random: Random,
  log: (line: string) => void,
): Promise<Row> {
  const sender = send(cluster, random)
  await waitFor('events', () => sender.acknowledged > rate)
  for (const [index, collector] of cluster.collectors.entries()) {
    await collector.end('SIGTERM')
    await cluster.startAgain(index)
    log(`collector ${index + 1} was restarted`)
  }
  await sender.stop()
  await untilComplete(cluster)
  const { acknowledged, lost, doubled } = await audit(cluster.api, sender)
  return {
    what: 'rolling restart: lost / doubled',
    value: `${lost} / ${doubled}`,
    target: '0 / 0',
    detail: `${acknowledged} events, ${sender.retried} sent again at once; answers ${answersOf(sender)}`,
  }
}

/** PostgreSQL is away for a while: events are taken, reads say when to ask again, and nothing is lost. */
async function measureOutage(
  cluster: Cluster,
  proxy: PostgresProxy,
  random: Random,
  { seconds, log }: { seconds: number; log: (line: string) => void },
): Promise<Row> {
  const { api } = cluster
  const sender = send(cluster, random)
  await waitFor('events', () => sender.acknowledged > rate)
  await proxy.refuse()
  const acknowledged = sender.acknowledged
  const reads = new Map<string, number>()
  for (const until = Date.now() + seconds * 1000; Date.now() < until; await delay(1_000)) {
    const answer = await ask(api, '/api/v3/events/web_event?limit=1')
    await answer.arrayBuffer()
    const name = `${answer.status}${answer.headers.has('retry-after') ? ' with Retry-After' : ''}`
    reads.set(name, (reads.get(name) ?? 0) + 1)
  }
  const taken = sender.acknowledged - acknowledged
  await proxy.accept()
  log('PostgreSQL is back')
  await sender.stop()
  await untilComplete(cluster)
  const { lost, doubled } = await audit(api, sender)
  const answered = [...reads].map(([name, count]) => `${name}: ${count}`).join(', ')
  return {
    what: `PostgreSQL away for ${seconds} s: lost / doubled`,
    value: `${lost} / ${doubled}`,
    target: '0 / 0',
    detail: `${taken} events taken meanwhile; answers ${answersOf(sender)}; reads ${answered}`,
  }
}

const answersOf = ({ answers }: Sender): string =>
  [...answers].map(([answer, count]) => `${answer}: ${count}`).join(', ')
