import { createTakeTokens } from '../../collector/api/access/rateLimits.ts'
import type { Postgres } from '../../collector/platform/postgres/pool.ts'
import { connectStores } from '../../collector/platform/stores/openStores.ts'
import { fields } from '../../schemas/fields.ts'
import { openApp } from '../harness/app.ts'
import type { Service } from '../harness/service.ts'
import { readStore } from './pages.ts'
import { send } from './recorded.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { percentile } from './stats.ts'

const requestsPerRepeat = 1_500
const warmUp = 1_000

/** What authentication and scope add to a request, p50: a schema route ÷ the same answer for anyone. */
export function access({ repeats, log }: Bench): Promise<Row> {
  return withService(async (service) => {
    const { postgresUrl, url, database } = readStore(service)
    const stores = connectStores({ clickhouse: url, postgresUrl }, database, console)
    const { app, ...opened } = await openApp(stores, { guard: { noteKeyUse: () => {} } })
    app.get('/bare', { config: { access: { to: 'anyone' } } }, async () => ({ fields }))
    await app.listen({ port: 0, host: '127.0.0.1' })
    try {
      const { port } = app.server.address() as { port: number }
      const { guarded, bare } = await compare(
        `http://127.0.0.1:${port}`,
        service,
        repeats * requestsPerRepeat,
      )
      const limit = await timeLimit(stores.postgres.pool, requestsPerRepeat)
      log(`the rate limit, measured alone, takes ${limit.toFixed(2)} ms more`)
      const added = percentile(guarded, 50) - percentile(bare, 50)
      return {
        what: 'authentication and scope add, p50',
        value: `${added.toFixed(2)} ms`,
        target: '≤ 0.3 ms',
        detail:
          `${percentile(guarded, 50).toFixed(2)} − ${percentile(bare, 50).toFixed(2)} ms, ${guarded.length} requests ` +
          `each; the rate limit adds ${limit.toFixed(2)} ms`,
      }
    } finally {
      await opened.close()
      await stores.close()
    }
  })
}

/** Both kinds of request in turn, one at a time; milliseconds each. */
async function compare(url: string, { demo }: Service, requests: number) {
  const headers = { 'x-api-key': demo.api_key, 'x-api-secret': demo.api_secret }
  const timed = async (path: string) => {
    const startedAt = performance.now()
    await send(new URL(path, url), 'GET', headers)
    return performance.now() - startedAt
  }
  const guarded: number[] = []
  const bare: number[] = []
  for (let n = 0; n < warmUp + requests; n++) {
    const ms = [
      await timed(`/api/v3/events_schema?pixel_id=${demo.pixel_id}`),
      await timed('/bare'),
    ]
    if (n < warmUp) continue
    guarded.push(ms[0]!)
    bare.push(ms[1]!)
  }
  return { guarded, bare }
}

/** Milliseconds to take a token, p50; a refusal takes as long. */
async function timeLimit(postgres: Postgres, requests: number): Promise<number> {
  const take = createTakeTokens(postgres)
  const ms: number[] = []
  for (let n = 0; n < requests; n++) {
    const startedAt = performance.now()
    await take(
      {
        organizationId: 'bench',
        projectId: null,
        mode: 'live',
        caller: { kind: 'key', keyId: 'bench', role: 'owner' },
      },
      'events',
    ).catch(() => {})
    ms.push(performance.now() - startedAt)
  }
  return percentile(ms, 50)
}
