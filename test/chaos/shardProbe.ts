import { setTimeout as delay } from 'node:timers/promises'
import { shardingKey } from '../../collector/platform/clickhouse/cluster.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { beaconOf, customEvent, postBeacon, readRows } from '../harness/api.ts'
import type { Cluster } from '../harness/cluster.ts'
import { newEventId } from '../harness/eventId.ts'
import type { Service } from '../harness/service.ts'

interface Probed {
  pixelId: string
  /** From 0. */
  shard: number
}

const everyMs = 500
const pollMs = 50
const projectsMax = 40

/**
 * Sends an event to a pixel of each shard twice a second, and measures the time until the API returns it. Each pixel has
 * a project of its own.
 */
export class ShardProbe {
  /** The shard that is unavailable, from 0; its pixels are not measured. */
  away: number | null = null
  /** While a shard was unavailable: the times until events of the others were readable, milliseconds. */
  readonly times: number[] = []
  /** Events that were acknowledged. */
  sent = 0
  readonly #cluster: Cluster
  #running: Promise<unknown> = Promise.resolve()
  #isStopped = false

  private constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  static async start(cluster: Cluster, shardUrls: readonly string[]): Promise<ShardProbe> {
    const probe = new ShardProbe(cluster)
    const probed = await createPixels(cluster.api, shardUrls)
    probe.#running = Promise.all(probed.map((each) => probe.#run(each)))
    return probe
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run({ pixelId, shard }: Probed): Promise<void> {
    const { api, balancer } = this.#cluster
    while (!this.#isStopped) {
      await delay(everyMs)
      const { away } = this
      if (away === null || away === shard) continue
      const eventId = newEventId()
      const beacon = beaconOf(api, [customEvent({}, { event_id: eventId })], { pixel_id: pixelId })
      const sent = await postBeacon(balancer.url, beacon).catch(() => null)
      if (!sent?.ok) continue
      this.sent++
      const sentAt = performance.now()
      const query = { pixel_id: pixelId, filter: `event_id:eq:${eventId}` }
      while (!this.#isStopped && (await readRows(api, query).catch(() => [])).length === 0)
        await delay(pollMs)
      this.times.push(performance.now() - sentAt)
    }
  }
}

/** Creates a project with one pixel for each shard. */
async function createPixels(api: Service, shardUrls: readonly string[]): Promise<Probed[]> {
  const server = openClickHouse(shardUrls[0]!, 'default')
  const found = new Map<number, string>()
  for (let made = 0; found.size < shardUrls.length && made < projectsMax; made++) {
    const { project } = await create<{ project: { project_id: string } }>(api, 'project', {
      name: `Probe ${made}`,
    })
    const { pixel } = await create<{ pixel: { pixel_id: string } }>(api, 'pixel', {
      project_id: project.project_id,
      name: 'Probe',
    })
    const [row] = await server.rows<{ shard: number }>({
      sql: `SELECT toUInt32(${shardingKey('{pixel:UUID}')} % {count:UInt32}) AS shard`,
      params: { pixel: pixel.pixel_id, count: shardUrls.length },
    })
    found.set(row!.shard, pixel.pixel_id)
  }
  await server.close()
  return [...found].map(([shard, pixelId]) => ({ shard, pixelId }))
}

async function create<T>(
  { url, demo: { api_key, api_secret } }: Service,
  kind: string,
  body: Record<string, string>,
): Promise<T> {
  const answer = await fetch(`${url}/api/v1/${kind}/create`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': api_key,
      'x-api-secret': api_secret,
    },
    body: JSON.stringify(body),
  })
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}
