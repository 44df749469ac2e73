import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import {
  type ApiCredentials,
  newApiCredentials,
  storeApiKey,
} from '../../../collector/accounts/keys/apiKeys.ts'
import { createBilling } from '../../../collector/billing/billing.ts'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { openPostgres } from '../../../collector/platform/postgres/pool.ts'
import { type PageFate, startProxy } from '../../chaos/proxy.ts'
import { openApp } from '../../harness/app.ts'
import { newClickHouseDatabase } from '../../harness/databases.ts'
import { noSandboxTenant } from '../../harness/noSandboxTenant.ts'
import { startPostgresProxy } from '../../harness/postgresProxy.ts'
import { insertRows } from '../../harness/rows.ts'
import { eventOf } from '../events/harness.ts'
import { type Accounts, openAccounts } from './harness.ts'

export const rowsStored = 300

/**
 * The service in one process, with an organization whose project has `rowsStored` events, and its keys.
 * Proxies before both stores can disturb the service's view of them.
 */
export async function openApi({
  idleConnectionMs = 60_000,
  rowBytes = 2_000,
  ...options
}: {
  patienceMs?: number
  readerPatienceMs?: number
  idleConnectionMs?: number
  rowBytes?: number
} = {}) {
  const accounts = await openAccounts()
  const organization = await accounts.newOrganization()
  const keys = {
    organization: await newKey(accounts, organization.organizationId, null),
    project: await newKey(accounts, organization.organizationId, organization.projectId),
    test: await newKey(accounts, organization.organizationId, null, 'test'),
  }

  let fate: PageFate = 'pass'
  let spoiled = ''
  const clickhouseProxy = await startProxy(
    inject('clickhouseUrl'),
    () => false,
    (address) => (address.includes(`default_format=${spoiled}`) ? fate : 'pass'),
  )
  const database = await newClickHouseDatabase()
  const clickhouse = openClickHouse(clickhouseProxy.url, database)
  const now = Date.now()
  const rows = Array.from({ length: rowsStored }, (_, n) =>
    eventOf(now, 1_000 + n, {
      organization_id: organization.organizationId,
      project_id: organization.projectId,
      page_url: `https://shop.example/${textOf(rowBytes)}`,
    }),
  )
  await insertRows(clickhouse, 'events', rows)

  const postgresProxy = await startPostgresProxy(accounts.databaseUrl, 'charge_responses')
  const ledgerPool = openPostgres(postgresProxy.url, () => {})
  const clock = () => accounts.clock.now
  const billing = createBilling({ postgres: ledgerPool, log: console, now: clock, ...options })
  const { app, ...opened } = await openApp(
    {
      clickhouse: { live: clickhouse, test: clickhouse },
      postgres: { url: accounts.databaseUrl, pool: accounts.postgres },
    },
    {
      billing,
      idleConnectionMs,
      now: clock,
      guard: {
        noteKeyUse: () => {},
        // Its test keys read the data of live ones, because only their cost matters here.
        sandboxTenant: noSandboxTenant,
      },
    },
  )
  const url = await app.listen({ port: 0, host: '127.0.0.1' })

  return {
    accounts,
    organization,
    keys,
    url,
    billing,
    postgresProxy,
    server: app.server,
    /** What becomes of the pages that ClickHouse answers. */
    /** How many pages ClickHouse has given up, as nobody took them. */
    pagesGivenUp: () => clickhouseProxy.givenUp,
    /** Of those in one of ClickHouse's formats, or of all. */
    setFate: (next: PageFate, ofFormat = '') => {
      fate = next
      spoiled = ofFormat
    },
    /** Asks with a key of the organization, or another. */
    ask: (path: string, init: RequestInit = {}, key: ApiCredentials = keys.organization) =>
      fetch(`${url}${path}`, { ...init, headers: { ...headersOf(key), ...init.headers } }),
    async close() {
      await opened.close()
      await Promise.all([clickhouse.close(), ledgerPool.end(), accounts.close()])
      await Promise.all([clickhouseProxy.refuse(), postgresProxy.refuse()])
    },
  }
}

/** Text that compression makes a quarter smaller and no less. */
const textOf = (length: number): string =>
  randomBytes(length).toString('base64url').slice(0, length)

export const headersOf = ({ apiKey, apiSecret }: ApiCredentials) => ({
  'x-api-key': apiKey,
  'x-api-secret': apiSecret,
})

export async function newKey(
  { postgres }: Accounts,
  organizationId: string,
  projectId: string | null,
  mode: 'live' | 'test' = 'live',
): Promise<ApiCredentials> {
  const credentials = newApiCredentials(mode)
  await storeApiKey(postgres, { organizationId, projectId }, mode, 'K', credentials)
  return credentials
}
