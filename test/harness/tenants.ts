import { randomUUID } from 'node:crypto'
import { newApiCredentials, storeApiKey } from '../../collector/accounts/keys/apiKeys.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import type { Row } from './api.ts'
import { storeOrganization, storePixel, storeProject } from './owners.ts'
import { insertRows } from './rows.ts'
import type { Answering } from './service.ts'
import { openTenant, type Tenant, type TenantSettings } from './sharedApp.ts'

/** The caller: headers of a key. */
export type Headers = Record<string, string>

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it checks.
  body: any
  headers: globalThis.Headers
}

/** A service whose demo organization has two projects, and a foreign organization. */
export interface Tenants {
  service: Answering
  /** The settings that it runs with: another with the same ones shares its stores. */
  env: Record<string, string>
  postgres: Postgres
  clickhouse: ClickHouse
  organizationId: string
  /** The demo's project and pixel, and a second project of the same organization. */
  first: { projectId: string; pixelId: string }
  second: { projectId: string; pixelId: string }
  foreign: { organizationId: string; projectId: string; pixelId: string }
  keys: Record<'organization' | 'first' | 'second' | 'foreign' | 'test', Headers>
  /** Sends a request, by default with the organization's key. */
  ask(
    path: string,
    query?: Record<string, string>,
    key?: Headers,
    body?: { method: 'POST' | 'PUT' | 'PATCH'; json: unknown },
  ): Promise<Answer>
  /** Stores rows as the shipper would. */
  insert(rows: readonly Row[]): Promise<void>
  close(): Promise<void>
}

/** Opens them in the app that the files of a worker share, or with settings in one of their own. */
export const openTenants = async (settings?: TenantSettings): Promise<Tenants> =>
  tenantsOf(await openTenant(settings))

/** The tenants of an application. */
async function tenantsOf({ service, env }: Pick<Tenant, 'service' | 'env'>): Promise<Tenants> {
  const postgres = openPostgres(env.DATABASE_URL!, () => {})
  const clickhouse = openClickHouse(env.CLICKHOUSE_URL!, env.CLICKHOUSE_DATABASE!)
  const { demo } = service
  const organizationId = demo.organization_id
  const first = { projectId: demo.project_id, pixelId: demo.pixel_id }
  const second = { projectId: randomUUID(), pixelId: randomUUID() }
  const foreign = { organizationId: randomUUID(), projectId: randomUUID(), pixelId: randomUUID() }
  await storeOrganization(postgres, foreign.organizationId, 'Foreign')
  for (const [owner, { projectId, pixelId }] of [
    [organizationId, second],
    [foreign.organizationId, foreign],
  ] as const) {
    await storeProject(postgres, projectId, owner, 'Other')
    await storePixel(postgres, pixelId, projectId, 'Other')
  }
  const newKey = async (owner: {
    organizationId: string
    projectId: string | null
  }): Promise<Headers> => {
    const credentials = newApiCredentials('live')
    await storeApiKey(postgres, owner, 'live', 'key', credentials)
    return { 'x-api-key': credentials.apiKey, 'x-api-secret': credentials.apiSecret }
  }
  const keys = {
    organization: { 'x-api-key': demo.api_key, 'x-api-secret': demo.api_secret },
    test: { 'x-api-key': demo.test_api_key, 'x-api-secret': demo.test_api_secret },
    first: await newKey({ organizationId, projectId: first.projectId }),
    second: await newKey({ organizationId, projectId: second.projectId }),
    foreign: await newKey({ organizationId: foreign.organizationId, projectId: null }),
  }

  return {
    service,
    env,
    postgres,
    clickhouse,
    organizationId,
    first,
    second,
    foreign,
    keys,
    async ask(path, query = {}, key = keys.organization, body) {
      const answer = await fetch(`${service.url}${path}?${new URLSearchParams(query)}`, {
        headers: { ...key, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: body.method, body: JSON.stringify(body.json) }),
      })
      return { status: answer.status, body: await answer.json(), headers: answer.headers }
    },
    insert: (rows) => insertRows(clickhouse, 'events', rows),
    async close() {
      await service.stop()
      await postgres.end()
      await clickhouse.close()
    },
  }
}
