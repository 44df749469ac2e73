import { randomBytes, randomUUID } from 'node:crypto'
import {
  type ApiCredentials,
  newApiCredentials,
  storeApiKey,
} from '../../collector/accounts/keys/apiKeys.ts'
import { storeMember } from '../../collector/accounts/members/newMember.ts'
import { sha256 } from '../../collector/api/access/authenticate.ts'
import { shareSecretPrefix } from '../../collector/api/access/shareLinks.ts'
import { createAudience } from '../../collector/audiences/audiences.ts'
import { createList } from '../../collector/audiences/lists/lists.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { hemOf } from '../../collector/platform/hem.ts'
import type { Postgres } from '../../collector/platform/postgres/pool.ts'
import { inTransaction } from '../../collector/platform/postgres/transaction.ts'
import { eventOf, linkOf } from '../api/events/harness.ts'
import { storeOrganization, storePixel, storeProject } from '../harness/owners.ts'
import { insertRows } from '../harness/rows.ts'

/** An organization with two projects, a pixel, a campaign and an audience in each, an owner, a plain member of no project, and keys. */
export interface Tenant {
  organizationId: string
  projects: [string, string]
  pixels: [string, string]
  campaigns: [string, string]
  webhooks: [string, string]
  /** A delivery of the first webhook. */
  delivery: string
  /** Of all of a project; and what opens the first. */
  shares: [string, string]
  alerts: [string, string]
  archives: [string, string]
  visitAlerts: [string, string]
  shareSecret: string
  segments: [string, string]
  funnels: [string, string]
  annotations: [string, string]
  integrations: [string, string]
  /** Integrations of the type s3, without an archive. */
  buckets: [string, string]
  exports: [string, string]
  /** An export of the first project that was run, with a record that failed. */
  sentExport: string
  sentRun: string
  audiences: [string, string]
  /** The build of each that is served, which has nobody. */
  builds: [string, string]
  lists: [string, string]
  /** The import of each, which is completed and had no rows. */
  imports: [string, string]
  erasure: string
  /** A cookie. */
  optedOut: string
  owner: string
  member: string
  key: ApiCredentials
  /** Bound to the first project. */
  firstKey: ApiCredentials
  /** Bound to the second project: to it, the first is another. */
  projectKey: ApiCredentials
  testKey: ApiCredentials
  testProjectKey: ApiCredentials
  revoked: ApiCredentials
}

/** An event of a moment ago in the tenant's first project, by somebody who is known. */
export async function storeVisit(
  clickhouse: ClickHouse,
  { organizationId, projects, pixels }: Tenant,
): Promise<void> {
  const [owner, cookie_id] = [{ organization_id: organizationId }, randomUUID()]
  const at = Date.now() - 1_000
  const insert = (table: string, row: object) => insertRows(clickhouse, table, [row])
  const place = { project_id: projects[0], pixel_id: pixels[0] }
  await insert('events', eventOf(at, 0, { ...owner, ...place, cookie_id }))
  await insert('identity_links', linkOf(cookie_id, hemOf('somebody@known.example'), owner))
}

/** Stores one, with all that it has in PostgreSQL. */
export async function newTenant(postgres: Postgres, name: string): Promise<Tenant> {
  const tenant: Tenant = {
    organizationId: randomUUID(),
    projects: [randomUUID(), randomUUID()],
    pixels: [randomUUID(), randomUUID()],
    campaigns: [randomUUID(), randomUUID()],
    webhooks: [randomUUID(), randomUUID()],
    delivery: randomUUID(),
    shares: [randomUUID(), randomUUID()],
    alerts: [randomUUID(), randomUUID()],
    archives: [randomUUID(), randomUUID()],
    visitAlerts: [randomUUID(), randomUUID()],
    shareSecret: `${shareSecretPrefix}${randomBytes(32).toString('base64url')}`,
    segments: [randomUUID(), randomUUID()],
    funnels: [randomUUID(), randomUUID()],
    annotations: [randomUUID(), randomUUID()],
    integrations: [randomUUID(), randomUUID()],
    buckets: [randomUUID(), randomUUID()],
    exports: [randomUUID(), randomUUID()],
    sentExport: randomUUID(),
    sentRun: randomUUID(),
    audiences: [randomUUID(), randomUUID()],
    builds: [randomUUID(), randomUUID()],
    lists: [randomUUID(), randomUUID()],
    imports: [randomUUID(), randomUUID()],
    erasure: randomUUID(),
    optedOut: randomUUID(),
    owner: randomUUID(),
    member: randomUUID(),
    key: newApiCredentials('live'),
    firstKey: newApiCredentials('live'),
    projectKey: newApiCredentials('live'),
    testKey: newApiCredentials('test'),
    testProjectKey: newApiCredentials('test'),
    revoked: newApiCredentials('live'),
  }
  const { organizationId, projects, pixels, campaigns, audiences, builds, lists, imports } = tenant
  await storeOrganization(postgres, organizationId, name)
  for (const n of [0, 1] as const) {
    await storeProject(postgres, projects[n], organizationId, `${name} project ${n}`)
    await postgres.query(
      `INSERT INTO campaigns (campaign_id, project_id, name, status, start_date) VALUES ($1, $2, $3, 'active', now())`,
      [campaigns[n], projects[n], `${name} campaign ${n}`],
    )
    await inTransaction(postgres, (client) =>
      createAudience(
        client,
        projects[n],
        {
          name: `${name} audience ${n}`,
          definition: { entity: 'people', include: { event: { within_days: 7 } } },
        },
        audiences[n],
      ),
    )
    await storeBuild(postgres, audiences[n], builds[n])
    await storeWebhook(postgres, tenant, n)
    await postgres.query(
      `INSERT INTO share_links (share_id, project_id, name, secret_sha256, expires_at)
       VALUES ($1, $2, $3, $4, now() + interval '1 day')`,
      [
        tenant.shares[n],
        projects[n],
        `${name} share ${n}`,
        sha256(n === 0 ? tenant.shareSecret : tenant.shares[1]),
      ],
    )
    for (const [id, kind, content] of [
      [tenant.segments[n], 'segment', { name: `${name} ${n}`, filter: 'country:eq:DE' }],
      [
        tenant.funnels[n],
        'funnel',
        {
          name: `${name} ${n}`,
          steps: ['page_path:eq:/', 'event_type:eq:click'],
          within_ms: 1_000,
        },
      ],
      [tenant.annotations[n], 'annotation', { at: '2026-03-01T09:00:00Z', text: `${name} ${n}` }],
    ] as const) {
      await postgres.query(
        'INSERT INTO saved_items (item_id, project_id, kind, content) VALUES ($1, $2, $3, $4)',
        [id, projects[n], kind, JSON.stringify(content)],
      )
    }
    await postgres.query(
      `INSERT INTO alerts (alert_id, project_id, name, condition) VALUES ($1, $2, $3, $4)`,
      [
        tenant.alerts[n],
        projects[n],
        `${name} alert ${n}`,
        JSON.stringify({
          kind: 'silence',
          metric: 'events',
          window: 'hour',
          direction: 'above',
          value: 1,
        }),
      ],
    )
    await postgres.query(
      `INSERT INTO visit_alerts (visit_alert_id, project_id, name, match, tier)
       VALUES ($1, $2, $3, $4, 'resolution_full_profile')`,
      [
        tenant.visitAlerts[n],
        projects[n],
        `${name} visits ${n}`,
        JSON.stringify({ kind: 'company', company_domain: 'acme.example' }),
      ],
    )
    await createList(postgres, {
      listId: lists[n],
      projectId: projects[n],
      name: `${name} list ${n}`,
      kind: 'emails',
    })
    await postgres.query(
      `INSERT INTO list_imports (import_id, list_id, status, file, bytes_done, lines_done, completed_at)
       VALUES ($1, $2, 'completed', '{"bytes": 0}', 0, 0, now())`,
      [imports[n], lists[n]],
    )
    await storeExports(postgres, tenant, n)
    await storePixel(postgres, pixels[n], projects[n], `${name} pixel ${n}`)
  }
  await postgres.query('INSERT INTO erasures (erasure_id, organization_id) VALUES ($1, $2)', [
    tenant.erasure,
    organizationId,
  ])
  await postgres.query('INSERT INTO opt_outs (organization_id, cookie_id) VALUES ($1, $2)', [
    organizationId,
    tenant.optedOut,
  ])
  for (const role of ['owner', 'member'] as const) {
    const email = `${role}@${organizationId}.example`
    await storeMember(postgres, {
      memberId: tenant[role],
      organizationId,
      email,
      role,
      passwordHash: 'none',
    })
  }
  const owner = { organizationId, projectId: null }
  await storeApiKey(postgres, owner, 'live', 'key', tenant.key)
  for (const [n, credentials] of [tenant.firstKey, tenant.projectKey].entries())
    await storeApiKey(
      postgres,
      { organizationId, projectId: projects[n]! },
      'live',
      'project key',
      credentials,
    )
  await storeApiKey(postgres, owner, 'live', 'revoked', tenant.revoked)
  await storeApiKey(postgres, owner, 'test', 'test key', tenant.testKey)
  const first = { organizationId, projectId: projects[0] }
  await storeApiKey(postgres, first, 'test', 'test project key', tenant.testProjectKey)
  await postgres.query('UPDATE api_keys SET revoked_at = now() WHERE key_sha256 = $1', [
    sha256(tenant.revoked.apiKey),
  ])
  return tenant
}

async function storeWebhook(postgres: Postgres, tenant: Tenant, n: 0 | 1): Promise<void> {
  const { organizationId, projects, webhooks, delivery } = tenant
  await postgres.query(
    `INSERT INTO webhooks (webhook_id, organization_id, project_id, url, event_types, sealed_secret)
     VALUES ($1, $2, $3, 'https://8.8.8.8/hooks', '{audience.built}', 'sealed')`,
    [webhooks[n], organizationId, projects[n]],
  )
  if (n !== 0) return
  await postgres.query(
    `INSERT INTO outbox_messages (message_id, organization_id, project_id, type, data, dispatched_at)
     VALUES ($1, $2, $3, 'audience.built', '{}', now())`,
    [delivery, organizationId, projects[n]],
  )
  await postgres.query(
    'INSERT INTO webhook_deliveries (delivery_id, webhook_id, message_id) VALUES ($1, $2, $1)',
    [delivery, webhooks[n]],
  )
}

async function storeExports(postgres: Postgres, tenant: Tenant, n: 0 | 1): Promise<void> {
  const { projects, integrations, exports, audiences, builds, sentExport, sentRun } = tenant
  await postgres.query(
    `INSERT INTO integrations (integration_id, project_id, type, name, settings, sealed_secrets)
     VALUES ($1, $2, 'webhook', 'Receiver', '{"url":"https://8.8.8.8/in"}', 'sealed')`,
    [integrations[n], projects[n]],
  )
  await postgres.query(
    `INSERT INTO integrations (integration_id, project_id, type, name, settings, sealed_secrets)
     VALUES ($1, $2, 's3', 'Bucket', '{"bucket":"bucket"}', 'sealed')`,
    [tenant.buckets[n], projects[n]],
  )
  await postgres.query(
    `INSERT INTO archives (archive_id, project_id, integration_id, active, starts_at, next_hour)
     VALUES ($1, $2, $3, false, '2026-03-01T09:00Z', '2026-03-01T09:00Z')`,
    [tenant.archives[n], projects[n], integrations[n]],
  )
  for (const exportId of n === 0 ? [exports[0], sentExport] : [exports[1]]) {
    await postgres.query(
      `INSERT INTO exports (export_id, project_id, name, audience_id, integration_id, output_format)
       VALUES ($1, $2, 'Export', $3, $4, 'hem')`,
      [exportId, projects[n], audiences[n], integrations[n]],
    )
  }
  if (n !== 0) return
  await postgres.query(
    `INSERT INTO export_runs (run_id, export_id, build_id, output_format, status, stop_reason,
       records_failed, records_charged, requested_by, is_project_key, ended_at)
     VALUES ($1, $2, $3, 'hem', 'failed', 'Stopped.', 1, 1, $2, false, now())`,
    [sentRun, sentExport, builds[0]],
  )
}

async function storeBuild(postgres: Postgres, audienceId: string, buildId: string): Promise<void> {
  await postgres.query(
    `INSERT INTO audience_builds (build_id, audience_id, definition, intent_window_days, status, count, completed_at)
     SELECT $1, audience_id, definition, intent_window_days, 'completed', 0, now() FROM audiences WHERE audience_id = $2`,
    [buildId, audienceId],
  )
  await postgres.query('UPDATE audiences SET current_build_id = $1 WHERE audience_id = $2', [
    buildId,
    audienceId,
  ])
}
