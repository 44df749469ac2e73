import { randomUUID } from 'node:crypto'
import { type Billing, createBilling } from '../../collector/billing/billing.ts'
import type { Charge } from '../../collector/billing/charge.ts'
import { readConfig } from '../../collector/config.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { openLog } from '../../collector/platform/log.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { openApp } from '../harness/app.ts'
import type { Service } from '../harness/service.ts'
import { makeEvents } from './events.ts'
import { hourMs, readStore } from './pages.ts'
import { send } from './recorded.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { median, percentile } from './stats.ts'

const rows = 20_000
const pageRows = 100
const pagesPerRepeat = 300
const warmUpPages = 200
const chargesPerSecond = 1_000
const processes = 2

/** What charging a page of 100 events adds to it, p50: the same page with nothing charged is the floor. */
export function metering({ repeats, log }: Bench): Promise<Row> {
  return withStores(async (service, postgres, postgresUrl) => {
    const store = readStore(service)
    log(`making ${rows} events`)
    await makeEvents(store, service.demo, {
      rows,
      newestMs: Date.now(),
      spanMs: 24 * hourMs,
      cookie: 'number % 50000',
    })
    const clickhouse = openClickHouse(store.url, store.database)
    await postgres.query('CREATE TABLE bench_floor (n integer); INSERT INTO bench_floor VALUES (0)')
    const charging = await listen(postgres, postgresUrl, clickhouse, billingOn(postgres))
    const free = await listen(postgres, postgresUrl, clickhouse, chargesNothing)
    try {
      const page = (url: string) => timed(() => readPage(url, service))
      const writes: number[] = []
      const pairs: { charged: number; uncharged: number }[] = []
      for (let n = 0; n < warmUpPages + repeats * pagesPerRepeat; n++) {
        const isChargedFirst = n % 2 === 0
        const first = await page(isChargedFirst ? charging.url : free.url)
        const second = await page(isChargedFirst ? free.url : charging.url)
        const write = await timed(() => postgres.query('UPDATE bench_floor SET n = n + 1'))
        if (n < warmUpPages) continue
        writes.push(write)
        pairs.push(
          isChargedFirst
            ? { charged: first, uncharged: second }
            : { charged: second, uncharged: first },
        )
      }
      const added = median(pairs.map(({ charged, uncharged }) => charged - uncharged))
      return {
        what: `metering adds to a page of ${pageRows} events, p50`,
        value: `${added.toFixed(2)} ms`,
        target: '≤ 1 ms',
        detail:
          `${median(pairs.map(({ charged }) => charged)).toFixed(2)} and ` +
          `${median(pairs.map(({ uncharged }) => uncharged)).toFixed(2)} ms, ${pairs.length} pairs of pages; a bare durable write takes ` +
          `${median(writes).toFixed(2)} ms here`,
      }
    } finally {
      await Promise.all([charging.close(), free.close(), clickhouse.close()])
    }
  })
}

/** How many responses of one organization are charged a second, through two processes’ worth of connections. */
export function charges({ seconds, connections }: Bench): Promise<Row> {
  return withStores(async (service, postgres, postgresUrl) => {
    const others = Array.from({ length: processes - 1 }, () => openPostgres(postgresUrl, () => {}))
    const billings = [postgres, ...others].map(billingOn)
    const charge = (n: number) => timed(() => chargeOne(billings[n % processes]!, service))
    try {
      const paced = await pace(seconds, charge)
      let made = 0
      const startedAt = performance.now()
      const isOver = () => performance.now() - startedAt > seconds * 1_000
      await Promise.all(
        Array.from({ length: connections }, async () => {
          while (!isOver()) await charge(made++)
        }),
      )
      const perSecond = made / ((performance.now() - startedAt) / 1_000)
      return {
        what: 'charged responses a second, one organization',
        value: perSecond.toFixed(0),
        target: `≥ ${chargesPerSecond}`,
        detail:
          `${connections} at a time; at ${chargesPerSecond} a second p50 ${percentile(paced, 50).toFixed(2)}, ` +
          `p99 ${percentile(paced, 99).toFixed(1)} ms`,
      }
    } finally {
      await Promise.all(others.map((pool) => pool.end()))
    }
  })
}

/** Charges as often as `chargesPerSecond` says, however long each takes; milliseconds of each. */
async function pace(seconds: number, charge: (n: number) => Promise<number>): Promise<number[]> {
  const all: Promise<number>[] = []
  const startedAt = performance.now()
  while (all.length < seconds * chargesPerSecond) {
    const due = ((performance.now() - startedAt) / 1_000) * chargesPerSecond
    while (all.length < due) all.push(charge(all.length))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return Promise.all(all)
}

async function chargeOne(billing: Billing, { demo }: Service): Promise<void> {
  const caller = {
    ...({ requestId: randomUUID(), callerId: randomUUID(), mode: 'live', repeatOf: null } as const),
    organizationId: demo.organization_id,
    projectId: demo.project_id,
  }
  const charge = await billing.admit(caller, { meter: 'events', projectId: null, recordsMax: 1 })
  await charge.settle(pageRows)
}

const log = openLog(readConfig({ LOG_LEVEL: 'silent' }))
const billingOn = (postgres: Postgres): Billing => createBilling({ postgres, log, now: Date.now })

const noCharge: Charge = {
  isRepeatable: false,
  repeats: null,
  settle: async () => 0,
  async *deliver(rows) {
    for await (const { bytes } of rows) yield bytes
  },
  refund: async () => {},
}
const chargesNothing: Billing = {
  admit: async () => noCharge,
  refundBuildRead: async () => {},
  recordIdentityRead: async () => {},
  close: async () => {},
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

const readPage = (url: string, { demo }: Service) =>
  send(new URL(`/api/v3/events/web_event?limit=${pageRows}`, url), 'GET', {
    'x-api-key': demo.api_key,
    'x-api-secret': demo.api_secret,
  })

/** The service's PostgreSQL, through connections of our own. */
const withStores = (
  use: (service: Service, postgres: Postgres, url: string) => Promise<Row>,
): Promise<Row> =>
  withService(async (service) => {
    const { postgresUrl } = readStore(service)
    const postgres = openPostgres(postgresUrl, () => {})
    try {
      return await use(service, postgres, postgresUrl)
    } finally {
      await postgres.end()
    }
  })

async function listen(
  postgres: Postgres,
  postgresUrl: string,
  clickhouse: ReturnType<typeof openClickHouse>,
  billing: Billing,
) {
  const stores = {
    clickhouse: { live: clickhouse, test: clickhouse },
    postgres: { url: postgresUrl, pool: postgres },
  }
  const { app, close } = await openApp(stores, { billing, guard: { noteKeyUse: () => {} } })
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close }
}
