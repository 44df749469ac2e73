import type { Postgres } from '../../collector/platform/postgres/pool.ts'
import type { Tenant } from './tenant.ts'

/** All that is kept of a tenant in PostgreSQL, but when something was last used. */
export async function stateOf(
  postgres: Postgres,
  { organizationId, projects }: { organizationId: string; projects: readonly string[] },
): Promise<Record<string, unknown>> {
  const tables = {
    organizations: 'organization_id = $1',
    members: 'organization_id = $1',
    projects: 'organization_id = $1',
    api_keys: 'organization_id = $1',
    audit_log: 'organization_id = $1',
    event_deletions: 'organization_id = $1',
    pixels: 'project_id = ANY ($2)',
    campaigns: 'project_id = ANY ($2)',
    webhooks: 'organization_id = $1',
    share_links: 'project_id = ANY ($2)',
    alerts: 'project_id = ANY ($2)',
    archives: 'project_id = ANY ($2)',
    event_window_deletions: 'organization_id = $1',
    link_removals: 'organization_id = $1',
    visit_alerts: 'project_id = ANY ($2)',
    tracking_plans: 'project_id = ANY ($2)',
    single_sign_on: 'organization_id = $1',
    lists: 'project_id = ANY ($2)',
    integrations: 'project_id = ANY ($2)',
    exports: 'project_id = ANY ($2)',
    analytics_goals: 'project_id = ANY ($2)',
    saved_items: 'project_id = ANY ($2)',
    project_members: 'project_id = ANY ($2)',
    audiences: 'project_id = ANY ($2)',
    audience_builds:
      'audience_id IN (SELECT audience_id FROM audiences WHERE project_id = ANY ($2))',
    list_imports: 'list_id IN (SELECT list_id FROM lists WHERE project_id = ANY ($2))',
    export_runs: 'export_id IN (SELECT export_id FROM exports WHERE project_id = ANY ($2))',
    opt_outs: 'organization_id = $1',
    erasures: 'organization_id = $1',
  }
  const state: Record<string, unknown> = {}
  for (const [table, condition] of Object.entries(tables)) {
    const { rows } = await postgres.query(
      `SELECT * FROM ${table} t WHERE ${condition} AND ($1::uuid IS NOT NULL AND $2::uuid[] IS NOT NULL) ORDER BY t::text`,
      [organizationId, projects],
    )
    state[table] = rows.map(({ last_used_at: _, ...row }) => row)
  }
  return state
}

/** Strangers may receive none of a tenant's ids or names, except those that they sent. */
export const mentions = (
  {
    organizationId,
    projects,
    pixels,
    campaigns,
    webhooks,
    audiences,
    lists,
    shares,
    ...others
  }: Tenant,
  text: string,
) =>
  [
    organizationId,
    ...projects,
    ...pixels,
    ...campaigns,
    ...webhooks,
    ...audiences,
    ...lists,
    ...shares,
    ...others.segments,
    ...others.funnels,
    ...others.annotations,
    ...others.integrations,
    ...others.exports,
    others.sentExport,
    others.sentRun,
    others.owner,
    others.member,
    'Alder',
  ].filter((part) => text.includes(part))
