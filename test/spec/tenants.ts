import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { ApiCredentials } from '../../collector/accounts/keys/apiKeys.ts'
import { sha256 } from '../../collector/api/access/authenticate.ts'
import { sessionCookie } from '../../collector/api/access/session.ts'
import { reloadIdentity } from '../../collector/identity/store/refresh.ts'
import { makeSpool, openSpools } from '../../collector/ingest/spool/spools.ts'
import { fillSampleDatabase } from '../../collector/ops/sandbox/sampleDatabase.ts'
import { ensureSampleOrganization } from '../../collector/ops/sandbox/sampleOrganization.ts'
import { hemOf } from '../../collector/platform/hem.ts'
import { connectStores } from '../../collector/platform/stores/openStores.ts'
import { openApp } from '../harness/app.ts'
import { newPostgresDatabase, newServiceDatabases } from '../harness/databases.ts'
import { samples } from './samples.ts'
import { newTenant, storeVisit, type Tenant } from './tenant.ts'

/**
 * The service's API on databases of its own, and two organizations in it. Test keys find sample data of so many days; a
 * month of it takes as long as all the rest.
 */
export async function openTenants({ sampleDays = 4 } = {}) {
  const postgresUrl = await newPostgresDatabase()
  const database = await newServiceDatabases()
  const { clickhouse: stores, ...connections } = connectStores(
    { clickhouse: inject('clickhouseUrl'), postgresUrl },
    database,
    console,
  )
  const { live: clickhouse, test } = stores
  const postgres = connections.postgres.pool
  await fillSampleDatabase(test, new Date(), sampleDays)
  await ensureSampleOrganization(postgres)
  await clickhouse.command({
    sql: `INSERT INTO profiles (hem, first_name, business_email)
          VALUES ({hem:String}, {name:String}, {email:String})`,
    params: {
      hem: hemOf('somebody@known.example'),
      name: 'Somebody',
      email: 'somebody@known.example',
    },
  })
  const directory = mkdtempSync(join(tmpdir(), 'footfall-test-'))
  makeSpool(directory)
  const spools = openSpools(
    directory,
    { bytesMax: 1e9 },
    { sealed: () => {}, commit: () => {}, noRoom: () => {} },
  )
  const { app, services, config, ...opened } = await openApp(
    { clickhouse: stores, postgres: connections.postgres },
    // Changes of a request are compared.
    { logs: spools, guard: { noteKeyUse: () => {} } },
  )
  const { tokens, uploads, allowance } = services
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
    allowance,
    tokens,
    ask,
    withSession,
    ours,
    theirs,
    async close() {
      await opened.close()
      await Promise.all(Object.values(spools).map((spool) => spool.close()))
      rmSync(directory, { recursive: true, force: true })
      await connections.close()
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
