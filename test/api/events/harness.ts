import { randomUUID } from 'node:crypto'
import type { InjectOptions } from 'fastify'
import { inject } from 'vitest'
import { rebuildHits } from '../../../collector/analytics/hits/rebuildHits.ts'
import { reloadIdentity } from '../../../collector/identity/store/refresh.ts'
import type { ClickHouse } from '../../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import type { SendMail } from '../../../collector/platform/mail.ts'
import { openPostgres } from '../../../collector/platform/postgres/pool.ts'
import type { Tier } from '../../../schemas/fields.ts'
import { type AppOptions, openApp } from '../../harness/app.ts'
import {
  newClickHouseDatabase,
  newKeptClickHouseDatabase,
  newKeptPostgresDatabase,
  newPostgresDatabase,
} from '../../harness/databases.ts'
import { organizationId, pixelId, projectId } from '../../harness/ids.ts'
import { noSandboxTenant } from '../../harness/noSandboxTenant.ts'
import { insertRows } from '../../harness/rows.ts'
import { countOpening } from '../../harness/usage.ts'

export type Row = Record<string, unknown>

export interface PageBody {
  rows: Row[]
  meta: { next_cursor?: string; has_more: boolean; records: number } & Row
}

export { organizationId, pixelId, projectId }

/** An event as the collector stores it, `agoMs` before `now`. */
export const eventOf = (now: number, agoMs: number, more: Row = {}): Row => ({
  organization_id: organizationId,
  project_id: projectId,
  pixel_id: pixelId,
  event_id: randomUUID(),
  event_type: 'page_view',
  ts_millis: now - agoMs,
  event_data: '{}',
  cookie_id: randomUUID(),
  client_ip: '203.0.113.7',
  page_url: 'https://shop.example/',
  device_type: 'desktop',
  received_at: new Date(now - agoMs + 5).toISOString(),
  spool_id: randomUUID(),
  ...more,
})

/** A link as the collector stores it: an observation of one of the organization's sites, now. */
export const linkOf = (cookie_id: unknown, hem: string, more: Row = {}): Row => ({
  organization_id: organizationId,
  cookie_id,
  hem,
  observed_at: new Date().toISOString(),
  ...more,
})

/** Of the files of this worker. */
const shared: Partial<Record<'live' | 'test', Promise<string>>> = {}
const sharedDatabase = (mode: 'live' | 'test'): Promise<string> =>
  (shared[mode] ??= newKeptClickHouseDatabase())

async function openStores(isAlone: boolean): Promise<Record<'live' | 'test', ClickHouse>> {
  const url = inject('clickhouseUrl')
  const live = isAlone ? newClickHouseDatabase() : sharedDatabase('live')
  return {
    live: openClickHouse(url, await live),
    test: openClickHouse(url, await sharedDatabase('test')),
  }
}

interface EventsOptions {
  /** Settings of the service. */
  env?: Record<string, string>
  /** Where the data is; by default in databases of its own. */
  on?: Record<'live' | 'test', ClickHouse>
  /** Whether the test asserts about more than its organization, and needs a ClickHouse database of its own. */
  isAlone?: boolean
  /** What requests read through instead. */
  readsFrom?: ClickHouse
  /** Whether callers are authenticated and scoped, as in the service; with rate limits. */
  isGuarded?: boolean
  /** What mails are sent through; default: none are. */
  sendMail?: SendMail | null
  /** Whether the log has the requests. */
  logsRequests?: boolean
  /** The time of the service; milliseconds since 1970. */
  now?: () => number
}

/** Lets every request in as the organization, the project and the mode that its headers name, to whatever it asks for. */
const letIn: AppOptions = {
  guard: {
    authenticate: async ({ headers }) => ({
      organizationId: headers['x-organization']?.toString() ?? organizationId,
      projectId: headers['x-project-key']?.toString() ?? null,
      mode: headers['x-test-mode'] === 'test' ? 'test' : 'live',
      caller: { kind: 'key', keyId: randomUUID(), role: 'owner' },
    }),
    noteKeyUse: () => {},
    sandboxTenant: noSandboxTenant,
  },
  scopeOf: async (principal, asked) => ({
    organizationId: principal.organizationId,
    projectId: asked.projectId ?? null,
    pixelId: asked.pixelId ?? null,
    campaignId: asked.campaignId ?? null,
  }),
}

export type Events = Awaited<ReturnType<typeof openOwn>>

/** Of the files of this worker. */
let sharedEvents: Promise<Events> | null = null

/**
 * The application and databases that the files of a worker share, or with options an application and PostgreSQL of its own.
 * Requests come from `organizationId`, or with `x-test-mode: test` from a test key, with `x-project-key` from a key of that
 * project. Every requested scope is accessible. Files that share must assert nothing about other organizations.
 */
export async function openEvents(options?: EventsOptions): Promise<Events> {
  if (options) return openOwn(options)
  sharedEvents ??= openShared()
  return { ...(await sharedEvents), close: async () => {} }
}

async function openShared(): Promise<Events> {
  countOpening('apps', -1)
  // A busy machine takes its time for a thousand random sessions.
  return openOwn({ env: { FOOTFALL_READ_SECONDS_MAX: '45' } }, await newKeptPostgresDatabase())
}

async function openOwn(
  {
    env = {},
    on,
    isAlone = false,
    readsFrom,
    isGuarded = false,
    sendMail = null,
    logsRequests = false,
    now = Date.now,
  }: EventsOptions,
  keptUrl?: string,
) {
  const clickhouse = on ?? (await openStores(isAlone))
  const postgresUrl = keptUrl ?? (await newPostgresDatabase())
  const postgres = openPostgres(postgresUrl, () => {})
  const { app, services, ...opened } = await openApp(
    {
      clickhouse: readsFrom ? { live: readsFrom, test: readsFrom } : clickhouse,
      postgres: { url: postgresUrl, pool: postgres },
    },
    {
      env,
      now,
      sendMail,
      logsRequests,
      ...(isGuarded ? { hasRateLimits: env.FOOTFALL_RATE_LIMITS !== 'false' } : letIn),
    },
  )

  const get = (
    path: string,
    query: Record<string, string> = {},
    headers: InjectOptions['headers'] = {},
  ) => app.inject({ url: `/api/v3/${path}?${new URLSearchParams(query)}`, headers })

  return {
    app,
    clickhouse,
    postgres,
    allowance: services.allowance,
    files: { store: services.files, temporaryDirectory: services.filesDirectory },
    openQueryExecutor: services.openQueryExecutor,
    get,
    async page(
      query: Record<string, string> = {},
      headers: InjectOptions['headers'] = {},
      tier: Tier = 'web_event',
    ): Promise<PageBody> {
      const answer = await get(`events/${tier}`, query, headers)
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
      return answer.json()
    },
    insert: (rows: readonly Row[], into: 'live' | 'test' = 'live') =>
      insertRows(clickhouse[into], 'events', rows),
    /** Inserts events and makes them known to figures at once. */
    async insertHits(rows: readonly Row[]): Promise<void> {
      await insertRows(clickhouse.live, 'events', rows)
      await rebuildHits(clickhouse.live, [
        ...new Set(rows.map(({ project_id }) => String(project_id))),
      ])
    },
    /** Makes these links and profiles known to reads. */
    async know({
      links = [],
      profiles = [],
    }: {
      links?: readonly Row[]
      profiles?: readonly Row[]
    }) {
      await insertRows(clickhouse.live, 'identity_links', links)
      await insertRows(clickhouse.live, 'profiles', profiles)
      await reloadIdentity(clickhouse.live)
    },
    async close() {
      await opened.close()
      await postgres.end()
      await Promise.all(Object.values(clickhouse).map((one) => one.close()))
    },
  }
}
