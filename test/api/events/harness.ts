import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { InjectOptions } from 'fastify'
import { inject } from 'vitest'
import { createAuthenticate } from '../../../collector/api/access/authenticate.ts'
import { createTakeTokens } from '../../../collector/api/access/rateLimits.ts'
import { createOpenReader, readLimitsOf } from '../../../collector/api/access/reader.ts'
import { createRecordScopeOf } from '../../../collector/api/access/recordScope.ts'
import { createScopeOf } from '../../../collector/api/access/scope.ts'
import { createTokens } from '../../../collector/api/access/tokens.ts'
import { openCursors } from '../../../collector/api/http/cursors.ts'
import { createApp } from '../../../collector/app.ts'
import { openUploads } from '../../../collector/audiences/lists/upload/uploads.ts'
import { createBilling } from '../../../collector/billing/billing.ts'
import { readConfig } from '../../../collector/config.ts'
import { reloadIdentity } from '../../../collector/identity/store/refresh.ts'
import type { ClickHouse } from '../../../collector/platform/clickhouse/client.ts'
import { openDatabases } from '../../../collector/platform/clickhouse/cluster.ts'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { openLog } from '../../../collector/platform/log.ts'
import type { SendMail } from '../../../collector/platform/mail.ts'
import { openOutbound } from '../../../collector/platform/outbound/outbound.ts'
import { createSealer } from '../../../collector/platform/outbound/sealer.ts'
import { openPostgres } from '../../../collector/platform/postgres/pool.ts'
import type { Tier } from '../../../schemas/fields.ts'
import {
  migratedDatabase,
  newClickHouseDatabase,
  newPostgresDatabase,
  newServiceDatabases,
} from '../../harness/databases.ts'
import { noSampleView } from '../../harness/noSampleView.ts'

export type Row = Record<string, unknown>

export interface PageBody {
  rows: Row[]
  meta: { next_cursor?: string; has_more: boolean; records: number } & Row
}

export const organizationId = randomUUID()
export const projectId = randomUUID()
export const pixelId = randomUUID()

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

async function insertRows(
  clickhouse: ClickHouse,
  table: string,
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  await clickhouse.insertLines(table, Readable.from([lines], { objectMode: false }), randomUUID())
}

const openBoth = async () => openDatabases(inject('clickhouseUrl'), await newServiceDatabases())

async function openLive(): Promise<Record<'live' | 'test', ClickHouse>> {
  const url = inject('clickhouseUrl')
  return {
    live: openClickHouse(url, await newClickHouseDatabase()),
    test: openClickHouse(url, migratedDatabase),
  }
}

interface EventsOptions {
  /** Settings of the service. */
  env?: Record<string, string>
  /** Where the data is; by default in databases of its own. */
  on?: Record<'live' | 'test', ClickHouse>
  /** Whether there are rows for test keys: otherwise they read a database that stays empty. */
  hasTestRows?: boolean
  /** What requests read through instead. */
  readsFrom?: ClickHouse
  /** With the routes of accounts, privacy, campaigns and webhooks. */
  isWhole?: boolean
  /** Whether it is found out who asks, and what is theirs, as the service does it; with rate limits. */
  isGuarded?: boolean
  /** What mails are sent through; default: none are. */
  sendMail?: SendMail
  /** What billing takes for the time; milliseconds since 1970. */
  now?: () => number
}

/**
 * The app's read side on databases of its own in a real ClickHouse and PostgreSQL. Requests come from `organizationId`, or with
 * `x-test-mode: test` from a test key, with `x-project-key` from a key of that project; whatever scope they ask for is theirs.
 */
export async function openEvents({
  env = {},
  on,
  hasTestRows = false,
  readsFrom,
  isWhole = false,
  isGuarded = false,
  sendMail,
  now = Date.now,
}: EventsOptions = {}) {
  const clickhouse = on ?? (hasTestRows ? await openBoth() : await openLive())
  const postgres = openPostgres(await newPostgresDatabase(), () => {})
  const config = readConfig({ LOG_LEVEL: 'silent', ...env })
  const log = openLog(config)
  const openReader = createOpenReader(
    readsFrom ? { live: readsFrom, test: readsFrom } : clickhouse,
    readLimitsOf(config),
  )
  const cursors = openCursors(randomBytes(32))
  const app = await createApp({
    config,
    log,
    notReady: () => null,
    metrics: async () => '',
    guard: {
      authenticate: isGuarded
        ? createAuthenticate(postgres, createTokens(postgres), config.publicUrl)
        : async ({ headers }) => ({
            organizationId: headers['x-organization']?.toString() ?? organizationId,
            projectId: headers['x-project-key']?.toString() ?? null,
            mode: headers['x-test-mode'] === 'test' ? 'test' : 'live',
            caller: { kind: 'key', keyId: randomUUID(), role: 'owner' },
          }),
      takeTokens: isGuarded ? createTakeTokens(postgres) : null,
      noteKeyUse: () => {},
      wrongKeys: null,
      sampleView: noSampleView,
    },
    read: {
      openReader,
      scopeOf: isGuarded
        ? createScopeOf(postgres)
        : async (principal, asked) => ({
            organizationId: principal.organizationId,
            projectId: asked.projectId ?? null,
            pixelId: asked.pixelId ?? null,
            campaignId: asked.campaignId ?? null,
          }),
      billing: createBilling({ postgres, log, now }),
      postgres,
      cursors,
      now: Date.now,
    },
    ...(isWhole && {
      accounts: {
        postgres,
        openReader,
        cursors,
        tokens: createTokens(postgres),
        publicUrl: config.publicUrl,
        collectorUrl: config.collectorUrl,
        sendMail: sendMail ?? null,
        sealer: createSealer([]),
      },
      lists: {
        postgres,
        cursors,
        clickhouse,
        uploads: openUploads(mkdtempSync(join(tmpdir(), 'footfall-test-')), randomUUID()),
        recordScopeOf: createRecordScopeOf(postgres),
      },
      campaigns: {
        postgres,
        openReader,
        cursors,
        now: Date.now,
        recordScopeOf: createRecordScopeOf(postgres),
      },
      webhooks: {
        postgres,
        cursors,
        recordScopeOf: createRecordScopeOf(postgres),
        outbound: openOutbound({ allow: [] }),
        sealer: createSealer([randomBytes(32)]),
      },
    }),
  })

  const get = (
    path: string,
    query: Record<string, string> = {},
    headers: InjectOptions['headers'] = {},
  ) => app.inject({ url: `/api/v3/${path}?${new URLSearchParams(query)}`, headers })

  return {
    app,
    clickhouse,
    postgres,
    openReader,
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
      await app.close()
      await postgres.end()
      await Promise.all(Object.values(clickhouse).map((one) => one.close()))
    },
  }
}
