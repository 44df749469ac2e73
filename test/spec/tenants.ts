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
import { ensureSampleOrganization } from '../../collector/ops/sandbox/sandbox.ts'
import { hemOf } from '../../collector/platform/hem.ts'
import type { Postgres } from '../../collector/platform/postgres/pool.ts'
import { connectStores } from '../../collector/platform/stores/openStores.ts'
import { openApp } from '../harness/app.ts'
import { keptDatabases, newPostgresDatabase, newServiceDatabases } from '../harness/databases.ts'
import { askRoute } from './record.ts'
import { newTenant, storeVisit, type Tenant } from './tenant.ts'

export type Service = Awaited<ReturnType<typeof openService>>
export type Tenants = Awaited<ReturnType<typeof tenantsIn>>

/**
 * The service's API on these databases, without jobs. Test keys find sample data of so many days; a month of it takes as
 * long as all the rest.
 */
async function openService(postgresUrl: string, database: string, sampleDays: number) {
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
  await app.ready()
  return {
    app,
    services,
    config,
    postgres,
    clickhouse,
    stores,
    async close() {
      await opened.close()
      await Promise.all(Object.values(spools).map((spool) => spool.close()))
      rmSync(directory, { recursive: true, force: true })
      await connections.close()
    },
  }
}

/** A service of its own with two organizations in it, and databases that exist until the file ends. */
export async function openTenants({ sampleDays = 4 } = {}) {
  const postgresUrl = await newPostgresDatabase()
  return tenantsIn(await openService(postgresUrl, await newServiceDatabases(), sampleDays))
}

/** Of this process: the files of a worker share it. */
let ofWorker: Promise<Service> | null = null

/** Two new organizations in a service without jobs, which the files of a worker share. */
export async function tenantsOfWorker() {
  ofWorker ??= keptDatabases().then(({ DATABASE_URL, CLICKHOUSE_DATABASE }) =>
    openService(DATABASE_URL!, CLICKHOUSE_DATABASE!, 1),
  )
  return tenantsIn(await ofWorker)
}

async function tenantsIn(service: Service) {
  const { app, services, config, postgres, clickhouse, stores, close } = service
  const { tokens, uploads, allowance } = services
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
    /** Asks a route about a tenant. */
    ask: async (name: string, tenant: Tenant, headers: Record<string, string>) =>
      (await askRoute(service, name, { who: '', headers, tenant })).answer,
    /** The headers of somebody who is signed in to the dashboard. */
    withSession,
    ours,
    theirs,
    close,
  }
}

/** Every id and name that is kept of an organization. */
export async function liveTexts(postgres: Postgres, { organizationId }: Tenant): Promise<string[]> {
  const { rows } = await postgres.query<{ text: string }>(
    `SELECT unnest(ARRAY[organization_id::text, name]) AS text FROM organizations WHERE organization_id = $1
     UNION ALL SELECT unnest(ARRAY[member_id::text, email]) FROM members WHERE organization_id = $1
     UNION ALL SELECT unnest(ARRAY[project_id::text, name]) FROM projects WHERE organization_id = $1
     UNION ALL SELECT unnest(ARRAY[pixel_id::text, pixels.name]) FROM pixels JOIN projects USING (project_id)
       WHERE organization_id = $1
     UNION ALL SELECT unnest(ARRAY[campaign_id::text, campaigns.name]) FROM campaigns
       JOIN projects USING (project_id) WHERE organization_id = $1
     UNION ALL SELECT unnest(ARRAY[audience_id::text, audiences.name]) FROM audiences
       JOIN projects USING (project_id) WHERE organization_id = $1
     UNION ALL SELECT unnest(ARRAY[list_id::text, lists.name]) FROM lists
       JOIN projects USING (project_id) WHERE organization_id = $1
     UNION ALL SELECT opt_out_id::text FROM opt_outs WHERE organization_id = $1
     UNION ALL SELECT erasure_id::text FROM erasures WHERE organization_id = $1`,
    [organizationId],
  )
  return [...rows.map(({ text }) => text), 'Somebody', 'somebody@known.example']
}

export const withKey = ({ apiKey, apiSecret }: ApiCredentials) => ({
  'x-api-key': apiKey,
  'x-api-secret': apiSecret,
})
