import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { ApiCredentials } from '../../collector/accounts/keys/apiKeys.ts'
import { createAuthenticate, sha256 } from '../../collector/api/access/authenticate.ts'
import { createOpenReader, readLimitsOf } from '../../collector/api/access/reader.ts'
import { createRecordScopeOf } from '../../collector/api/access/recordScope.ts'
import { createSampleView } from '../../collector/api/access/sampleView.ts'
import { createScopeOf } from '../../collector/api/access/scope.ts'
import { sessionCookie } from '../../collector/api/access/session.ts'
import { createTokens } from '../../collector/api/access/tokens.ts'
import { openCursors } from '../../collector/api/http/cursors.ts'
import { createApp } from '../../collector/app.ts'
import { openUploads } from '../../collector/audiences/lists/upload/uploads.ts'
import { createBilling } from '../../collector/billing/billing.ts'
import { readConfig } from '../../collector/config.ts'
import { hemOf } from '../../collector/identity/store/hem.ts'
import { reloadIdentity } from '../../collector/identity/store/refresh.ts'
import { openLocate } from '../../collector/ingest/normalize/location.ts'
import { Spool } from '../../collector/ingest/spool/spool.ts'
import { fillSampleDatabase } from '../../collector/ops/sandbox/sample.ts'
import { ensureSampleOrganization } from '../../collector/ops/sandbox/sampleOrganization.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { openLog } from '../../collector/platform/log.ts'
import { openOutbound } from '../../collector/platform/outbound/outbound.ts'
import { createSealer } from '../../collector/platform/outbound/sealer.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase, newServiceDatabases } from '../harness/databases.ts'
import { samples } from './samples.ts'
import { newTenant, storeVisit, type Tenant } from './tenant.ts'

/**
 * The service's API on databases of its own, and two organizations in it. Test keys find sample data of so many days; a
 * month of it takes as long as all the rest.
 */
export async function openTenants({ sampleDays = 4 } = {}) {
  const config = readConfig({ LOG_LEVEL: 'silent' })
  const log = openLog(config)
  const postgres = openPostgres(await newPostgresDatabase(), () => {})
  const database = await newServiceDatabases()
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  const stores = {
    live: clickhouse,
    test: openClickHouse(inject('clickhouseUrl'), `${database}_test`),
  }
  await fillSampleDatabase(stores.test, new Date(), sampleDays)
  await ensureSampleOrganization(postgres)
  await clickhouse.command({
    sql: 'INSERT INTO profiles (hem, first_name) VALUES ({hem:String}, {name:String})',
    params: { hem: hemOf('somebody@known.example'), name: 'Somebody' },
  })
  const tokens = createTokens(postgres)
  const directory = mkdtempSync(join(tmpdir(), 'footfall-test-'))
  const spool = new Spool({
    directory,
    segmentBytesMax: 1e6,
    sealAfterMs: 1e6,
    bytesMax: 1e9,
    onSealed: () => {},
  })
  const uploads = openUploads(directory, randomUUID())
  const openReader = createOpenReader(stores, readLimitsOf(config))
  const cursors = openCursors(randomBytes(32))
  const app = await createApp({
    config,
    log,
    notReady: () => null,
    metrics: async () => '',
    guard: {
      authenticate: createAuthenticate(postgres, tokens, config.publicUrl),
      takeTokens: null,
      wrongKeys: null,
      noteKeyUse: () => {},
      sampleView: createSampleView(postgres),
    },
    read: {
      openReader,
      scopeOf: createScopeOf(postgres),
      postgres,
      cursors,
      now: Date.now,
      billing: createBilling({ postgres, log, now: Date.now }),
    },
    lists: {
      postgres,
      cursors,
      clickhouse: stores,
      uploads,
      recordScopeOf: createRecordScopeOf(postgres),
    },
    campaigns: {
      openReader,
      postgres,
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
    integrations: {
      postgres,
      cursors,
      now: Date.now,
      recordScopeOf: createRecordScopeOf(postgres),
      outbound: openOutbound({ allow: [] }),
      sealer: createSealer([randomBytes(32)]),
    },
    delivery: {
      postgres,
      spool,
      locate: openLocate(null),
      optOuts: { has: () => false, close: async () => {} },
    },
    accounts: {
      postgres,
      openReader,
      tokens,
      cursors,
      publicUrl: config.publicUrl,
      collectorUrl: config.collectorUrl,
      sendMail: null,
      sealer: createSealer([]),
    },
    operator: {
      postgres,
      openReader,
      clickhouse,
      metrics: async () => '',
      version: '0.0.0',
      deadLetterDirectory: join(tmpdir(), `footfall-no-dead-letters-${randomUUID()}`),
    },
  })
  await app.ready()

  /** Asks a route about a tenant. */
  const ask = async (name: string, about: Tenant, headers: Record<string, string>) => {
    const [method, path] = name.split(' ') as ['GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', string]
    const { params, query, body } = samples[name]!
    const values = params?.(about) ?? {}
    const answer = await app.inject({
      method,
      url: path.replace(/:(\w+)/g, (_, parameter) => values[parameter]!),
      query: query?.(about) ?? {},
      headers,
      ...(body && { payload: body(about) }),
    })
    const { 'x-svc-mode': mode } = answer.headers
    return { name, status: answer.statusCode, text: answer.body, error: errorOf(answer.body), mode }
  }

  /** The headers of somebody who is signed in to the dashboard. */
  const withSession = async (memberId: string): Promise<Record<string, string>> => {
    const session = randomBytes(32).toString('base64url')
    await postgres.query(
      `INSERT INTO sessions (session_sha256, user_id, expires_at)
       SELECT $1, user_id, now() + interval '1 hour' FROM members WHERE member_id = $2`,
      [sha256(session), memberId],
    )
    return {
      cookie: `${sessionCookie(config.publicUrl)}=${session}`,
      'sec-fetch-site': 'same-origin',
    }
  }

  const [ours, theirs] = [await newTenant(postgres, 'Alder'), await newTenant(postgres, 'Birch')]
  for (const tenant of [ours, theirs]) await storeVisit(clickhouse, tenant)
  // Ours runs the service; theirs shows that nobody else is let in.
  await postgres.query(
    'UPDATE users SET is_operator = true WHERE user_id = (SELECT user_id FROM members WHERE member_id = $1)',
    [ours.owner],
  )
  await reloadIdentity(clickhouse)

  return {
    app,
    postgres,
    clickhouse,
    stores,
    uploads,
    tokens,
    ask,
    withSession,
    ours,
    theirs,
    async close() {
      await app.close()
      await spool.close()
      rmSync(directory, { recursive: true, force: true })
      await Promise.all([clickhouse.close(), stores.test.close()])
      await postgres.end()
    },
  }
}

export const withKey = ({ apiKey, apiSecret }: ApiCredentials) => ({
  'x-api-key': apiKey,
  'x-api-secret': apiSecret,
})

function errorOf(text: string): unknown {
  try {
    return JSON.parse(text).error
  } catch {
    return undefined
  }
}
