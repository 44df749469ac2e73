import { rmSync } from 'node:fs'
import { shardOf } from '../../collector/platform/clickhouse/shards.ts'
import type { Random } from '../../collector/platform/seededRandom.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import { type Service, startService } from './service.ts'

/** Several collectors and processes of the API on the same stores, as on as many machines, with a balancer before the collectors. */
export interface Cluster {
  api: Service
  /** All that answer reads, the one above first, with the demo's key. */
  apis: readonly Service[]
  /** One that is started again is another object at the same place. */
  collectors: Service[]
  balancer: Balancer
  /** Of the demo project and of another one, which of two shards is on the other one. */
  pixelIds: readonly string[]
  /** Starts a collector again that has ended, on its port and its data. */
  startAgain(index: number): Promise<void>
  /** What all of them printed last. */
  lastWords(): string
  /** Ends them and removes their data. */
  close(): Promise<void>
}

/** With the demo's own they are no multiple of how often Sender's browsers have slow clocks. */
const otherPixels = 6

/** Starts them; `env` says where the stores are, and asks for the demo, whose pixel and key the api tells. */
export async function startCluster(
  env: Record<string, string>,
  {
    collectors: count,
    random,
    apis: apiCount = 1,
  }: { collectors: number; random: Random; apis?: number },
): Promise<Cluster> {
  const api = await startService({ env: { ...env, FOOTFALL_ROLE: 'api' } })
  const otherEnv = { ...env, FOOTFALL_ROLE: 'api', FOOTFALL_DEMO: 'false' }
  const others = await Promise.all(
    Array.from({ length: apiCount - 1 }, async () => ({
      ...(await startService({ env: otherEnv })),
      demo: api.demo,
    })),
  )
  const apis = [api, ...others]
  const pixelIds = [api.demo.pixel_id, ...(await createPixels(api, otherPixels))]
  const collectorEnv = {
    ...env,
    FOOTFALL_ROLE: 'ingest',
    FOOTFALL_DEMO: 'false',
    FOOTFALL_WORKERS: '2',
  }
  const collectors = await Promise.all(
    Array.from({ length: count }, () => startService({ env: collectorEnv })),
  )
  const balancer = await startBalancer(
    collectors.map(({ url }) => url),
    random,
  )
  return {
    api,
    apis,
    collectors,
    balancer,
    pixelIds,
    async startAgain(index) {
      const { dataDir, url } = collectors[index]!
      collectors[index] = await startService({
        dataDir,
        env: { ...collectorEnv, PORT: new URL(url).port },
      })
    },
    lastWords: () =>
      [...apis, ...collectors].map((each) => each.output().slice(-2_000)).join('\n—\n'),
    async close() {
      await balancer.close()
      await Promise.all([...apis, ...collectors].map((each) => each.end('SIGTERM')))
      for (const { dataDir } of [...apis, ...collectors])
        rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Creates pixels, alternately in the demo project and in another project, which of two shards is on the other one.
 * Collectors that start afterwards know them.
 */
export async function createPixels(api: Service, count: number): Promise<string[]> {
  const { project_id } = api.demo
  const projectIds = [project_id, await createProject(api, 1 - shardOf(project_id, 2))]
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const body = { project_id: projectIds[index % 2]!, name: `Site ${index}` }
      const { pixel } = await create<{ pixel: { pixel_id: string } }>(api, 'pixel', body)
      return pixel.pixel_id
    }),
  )
}

async function createProject(api: Service, shard: number): Promise<string> {
  for (;;) {
    const { project } = await create<{ project: { project_id: string } }>(api, 'project', {
      name: 'Other',
    })
    if (shardOf(project.project_id, 2) === shard) return project.project_id
  }
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
