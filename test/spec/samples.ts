import { randomUUID } from 'node:crypto'
import { entities } from '../../collector/audiences/definition/definition.ts'
import { visitorTiers } from '../../collector/events/visitors/visitorsRequest.ts'
import { tiers } from '../../schemas/fields.ts'
import type { Tenant } from './tenant.ts'

export interface Sample {
  /** Values of the path's parameters, the query and the body, about a tenant's first project. */
  params?: (tenant: Tenant) => Record<string, string>
  query?: (tenant: Tenant) => Record<string, string>
  body?: (tenant: Tenant) => Record<string, unknown>
}

/** The versions before 3 have no window of their own. */
const lastHour = () => ({ start_ms: String(Date.now() - 3_600_000), end_ms: String(Date.now()) })
const byProjectInWindow: Sample = {
  query: ({ projects }) => ({ project_id: projects[0], ...lastHour() }),
}
const byCampaign: Sample = { params: ({ campaigns }) => ({ campaign_id: campaigns[0] }) }
/** A valid definition of an audience. */
const visitors = { entity: 'people', include: { event: { within_days: 7 } } }
const byIntegration: Sample = {
  params: ({ integrations }) => ({ integration_id: integrations[0] }),
}
const byExport: Sample = { params: ({ exports }) => ({ export_id: exports[0] }) }
const byRun: Sample = {
  params: ({ sentExport, sentRun }) => ({ export_id: sentExport, run_id: sentRun }),
}
const byWebhook: Sample = { params: ({ webhooks }) => ({ webhook_id: webhooks[0] }) }
const byAlert: Sample = { params: ({ alerts }) => ({ alert_id: alerts[0] }) }
const alertOf = (project_id: string) => ({
  project_id,
  name: 'Quiet',
  condition: { kind: 'silence', window: 'hour' },
})
const byArchive: Sample = { params: ({ archives }) => ({ archive_id: archives[0] }) }
const byVisitAlert: Sample = {
  params: ({ visitAlerts }) => ({ visit_alert_id: visitAlerts[0] }),
}
const visitAlertOf = (project_id: string) => ({
  project_id,
  name: 'Acme',
  tier: 'resolution_full_profile',
  match: { kind: 'company', company_domain: 'acme.example' },
})
const byShare: Sample = { params: ({ shares }) => ({ share_id: shares[0] }) }
const bySegment: Sample = { params: ({ segments }) => ({ segment_id: segments[0] }) }
const byFunnel: Sample = { params: ({ funnels }) => ({ funnel_id: funnels[0] }) }
const byAnnotation: Sample = { params: ({ annotations }) => ({ annotation_id: annotations[0] }) }
const byAudience: Sample = {
  params: ({ audiences }) => ({ audience_id: audiences[0] }),
  query: ({ projects }) => ({ project_id: projects[0] }),
}
const byList: Sample = { params: ({ lists }) => ({ list_id: lists[0] }) }
const byImport: Sample = {
  params: ({ lists, imports }) => ({ list_id: lists[0], import_id: imports[0] }),
}
const byProject: Sample = { query: ({ projects }) => ({ project_id: projects[0] }) }

const byTopic: Sample = { body: () => ({ topic: 'golf' }) }
const byTopics: Sample = { body: () => ({ topics: ['golf', 'wine'] }) }

/**
 * A request of each route about a tenant. Deletions come last, so that their objects exist for the others.
 */
export const samples: Record<string, Sample> = {
  ...Object.fromEntries(
    tiers.flatMap((tier) => [
      [`GET /api/v3/events/${tier}`, byProject],
      [`GET /api/v3/events/${tier}/schema`, byProject],
    ]),
  ),
  ...Object.fromEntries(
    visitorTiers.map((tier) => [
      `GET /api/v3/events/${tier}/visitors`,
      { query: ({ projects }) => ({ project_id: projects[0], ...lastHour(), limit: '10' }) },
    ]),
  ),
  'GET /api/v3/events/web_event/counts': byProject,
  'GET /api/v3/events_schema': byProject,
  'GET /api/v1/events': byProjectInWindow,
  'GET /api/v1/events/scan_estimate': byProjectInWindow,
  'GET /api/v1/events/:event_id/trace': {
    ...byProject,
    params: () => ({ event_id: randomUUID() }),
  },
  'GET /api/v1/event_counts': byProjectInWindow,
  'GET /api/v1/event_counts_index': byProjectInWindow,
  'GET /api/v1/events_schema': {},
  'GET /api/v2/events': byProjectInWindow,
  'GET /api/v1/campaigns': byProject,
  'GET /api/v1/campaigns/:campaign_id': byCampaign,
  'GET /api/v1/campaigns/:campaign_id/performance': byCampaign,
  'GET /api/v1/campaigns/:campaign_id/budget-status': byCampaign,
  'GET /api/v1/campaigns/performance-summary': byProject,
  'GET /api/v1/campaigns/budget-summary': byProject,
  'POST /api/v1/campaigns': {
    body: ({ projects }) => ({
      project_id: projects[0],
      name: 'Another',
      status: 'draft',
      start_date: '2026-01-01',
    }),
  },
  'PATCH /api/v1/campaigns/:campaign_id': { ...byCampaign, body: () => ({ name: 'Renamed' }) },
  'POST /api/v1/campaigns/events': { body: () => ({ events: [{ event_id: randomUUID() }] }) },
  'GET /api/v1/integrations': byProject,
  'GET /api/v1/integrations/:integration_id': byIntegration,
  'GET /api/v1/integrations/:integration_id/check': byIntegration,
  'POST /api/v1/integrations/:integration_id/check': byIntegration,
  'POST /api/v1/integrations': {
    body: ({ projects }) => ({
      project_id: projects[0],
      type: 's3',
      name: 'Another',
      settings: { bucket: 'another-bucket' },
      secrets: { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'an example' },
    }),
  },
  'PATCH /api/v1/integrations/:integration_id': {
    ...byIntegration,
    body: () => ({ name: 'Renamed' }),
  },
  'GET /api/v1/exports': byProject,
  'GET /api/v1/exports/:export_id': byExport,
  'POST /api/v1/exports': {
    body: ({ projects, audiences, integrations }) => ({
      project_id: projects[0],
      name: 'Another',
      audience_id: audiences[0],
      integration_id: integrations[0],
      output_format: 'ndjson',
    }),
  },
  'PATCH /api/v1/exports/:export_id': { ...byExport, body: () => ({ name: 'Renamed' }) },
  'POST /api/v1/exports/:export_id/runs': byExport,
  'GET /api/v1/exports/:export_id/runs': byExport,
  'GET /api/v1/exports/:export_id/runs/:run_id': byRun,
  'GET /api/v1/exports/:export_id/runs/:run_id/failures': byRun,
  'POST /api/v1/exports/:export_id/runs/:run_id/cancel': byRun,
  'POST /api/v1/exports/:export_id/runs/:run_id/retry': byRun,
  'GET /api/v1/webhooks': byProject,
  'GET /api/v1/webhooks/:webhook_id': byWebhook,
  'GET /api/v1/webhooks/:webhook_id/deliveries': byWebhook,
  'POST /api/v1/webhooks': {
    body: ({ projects }) => ({
      project_id: projects[0],
      url: 'https://8.8.8.8/hooks',
      event_types: ['audience.built'],
    }),
  },
  'PATCH /api/v1/webhooks/:webhook_id': { ...byWebhook, body: () => ({ description: 'Renamed' }) },
  'POST /api/v1/webhooks/:webhook_id/secret/rotate': byWebhook,
  'POST /api/v1/webhooks/:webhook_id/test': byWebhook,
  'POST /api/v1/webhooks/:webhook_id/deliveries/:delivery_id/replay': {
    params: ({ webhooks, delivery }) => ({ webhook_id: webhooks[0], delivery_id: delivery }),
  },
  'POST /api/v1/webhooks/:webhook_id/replay': {
    ...byWebhook,
    body: () => ({ since: new Date(Date.now() - 3_600_000).toISOString() }),
  },
  'GET /api/v1/lists': byProject,
  'GET /api/v1/lists/:list_id': byList,
  'GET /api/v1/lists/:list_id/imports': byList,
  'GET /api/v1/lists/:list_id/imports/:import_id': byImport,
  'GET /api/v1/lists/:list_id/imports/:import_id/rejected': byImport,
  'POST /api/v1/lists': {
    body: ({ projects }) => ({
      project_id: projects[0],
      name: 'Customers',
      kind: 'emails',
      items: ['ada@customers.example'],
    }),
  },
  'POST /api/v1/lists/:list_id/items': {
    ...byList,
    body: () => ({ items: ['ben@customers.example'] }),
  },
  'PATCH /api/v1/lists/:list_id': { ...byList, body: () => ({ name: 'Renamed' }) },
  'GET /api/v1/audiences': byProject,
  'GET /api/v1/audiences/:audience_id': byAudience,
  'GET /api/v1/audiences/schema': {},
  'GET /api/v1/audiences/templates': {},
  'GET /api/v1/audiences/:audience_id/records': byAudience,
  'GET /api/v1/audiences/:audience_id/builds': byAudience,
  'GET /api/v1/audiences/:audience_id/status': byAudience,
  'GET /api/v1/audiences/:audience_id/download': byAudience,
  'GET /api/v1/audiences/:audience_id/builds/:build_id/changes': {
    ...byAudience,
    params: ({ audiences, builds }) => ({ audience_id: audiences[0], build_id: builds[0] }),
  },
  'GET /api/v1/audiences/:audience_id/explain': {
    ...byAudience,
    query: ({ projects }) => ({ project_id: projects[0], email: 'somebody@known.example' }),
  },
  'GET /api/v1/audiences/linkage-usage': byProject,
  'POST /api/v1/audiences': {
    ...byProject,
    body: () => ({ name: 'Another', definition: visitors }),
  },
  'POST /api/v1/audiences/sample': { ...byProject, body: () => ({ definition: visitors }) },
  'POST /api/v1/audiences/:audience_id/clone': { ...byAudience, body: () => ({ name: 'A clone' }) },
  'PATCH /api/v1/audiences/:audience_id': { ...byAudience, body: () => ({ name: 'Renamed' }) },
  'GET /api/v1/lookup/cookie': {
    query: ({ projects }) => ({ project_id: projects[0], cookie_id: randomUUID() }),
  },
  'GET /api/v1/requests': byProject,
  'GET /api/v1/billing/prices': {},
  'GET /api/v1/billing/usage': byProject,
  'GET /api/v1/billing/usage/by-meter': byProject,
  'GET /api/v1/billing/usage/daily-by-meter': byProject,
  'GET /api/v1/billing/usage/by-key': byProject,
  'GET /api/v1/billing/usage/forecast': byProject,
  'GET /api/v1/billing/limits': {},
  'PUT /api/v1/billing/limits': { body: () => ({ budgets: [], limits: [] }) },
  'GET /api/v1/lookup': { query: () => ({ email: 'somebody@known.example' }) },
  'POST /api/v1/lookup': { body: () => ({ email: 'nobody@known.example' }) },
  'POST /api/v1/lookup/batch': {
    body: () => ({ items: [{ id: 'a', email: 'somebody@known.example' }, { hem: 'not one' }] }),
  },
  'GET /api/v1/lookup/company': { query: () => ({ domain: 'nowhere.example' }) },
  'POST /api/v1/contact/query': { body: () => ({ filter: 'first_name:eq:Somebody' }) },
  'POST /api/v1/intent/batch': {
    body: () => ({
      items: [
        { id: 'a', email: 'somebody@known.example' },
        { id: 'b', email: 'not one' },
      ],
    }),
  },
  ...Object.fromEntries(
    entities.flatMap((entity) => [
      [`POST /api/v1/intent/${entity}`, byTopic],
      [`POST /api/v1/intent/${entity}/multi`, byTopics],
      [`POST /api/v1/intent/${entity}/preview`, byTopic],
      [`POST /api/v1/intent/${entity}/multi/preview`, byTopics],
    ]),
  ),
  'GET /api/v1/intent/rules': {},
  'PUT /api/v1/intent/rules': { body: () => ({ rules: [{ topic: 'golf', path: '/golf%' }] }) },
  'GET /api/v1/stats/tables/intent-daily-stats': {},
  'GET /api/v1/stats/tables/intent-daily-per-topic-stats': { query: () => ({ topic: 'golf' }) },
  'GET /api/v1/resolution/statistics': byProject,
  'GET /api/v1/rejected_events': byProject,
  'GET /api/v1/analytics/overview': byProject,
  'GET /api/v1/analytics/timeseries': {
    query: ({ projects }) => ({ project_id: projects[0], compare: 'previous' }),
  },
  'GET /api/v1/analytics/breakdown': {
    query: ({ projects }) => ({ project_id: projects[0], dimensions: 'page_path,entry_page' }),
  },
  'GET /api/v1/analytics/live': byProject,
  'POST /api/v1/analytics/funnel': {
    body: ({ projects }) => ({
      project_id: projects[0],
      steps: ['event_type:eq:page_view', 'event_type:eq:click'],
    }),
  },
  'POST /api/v1/analytics/visitors': { body: ({ projects }) => ({ project_id: projects[0] }) },
  'GET /api/v1/analytics/retention': byProject,
  'PUT /api/v1/analytics/goals': {
    body: ({ projects }) => ({
      project_id: projects[0],
      goals: [{ name: 'Ordered', filter: 'page_path:eq:/thanks' }],
    }),
  },
  'GET /api/v1/analytics/goals': byProject,
  'GET /api/v1/analytics/segments': byProject,
  'POST /api/v1/analytics/segments': {
    body: ({ projects }) => ({
      project_id: projects[0],
      name: 'Visitors from Germany',
      filter: 'country:eq:DE',
    }),
  },
  'PATCH /api/v1/analytics/segments/:segment_id': {
    ...bySegment,
    body: () => ({ filter: 'country:in:DE|AT' }),
  },
  'GET /api/v1/analytics/funnels': byProject,
  'POST /api/v1/analytics/funnels': {
    body: ({ projects }) => ({
      project_id: projects[0],
      name: 'Orders',
      steps: ['page_path:eq:/pricing', 'event_type:eq:form_submission'],
      within_ms: 3_600_000,
    }),
  },
  'PATCH /api/v1/analytics/funnels/:funnel_id': {
    ...byFunnel,
    body: () => ({ within_ms: 3_600_000 }),
  },
  'GET /api/v1/analytics/annotations': byProject,
  'POST /api/v1/analytics/annotations': {
    body: ({ projects }) => ({
      project_id: projects[0],
      at: '2026-03-01T09:00:00Z',
      text: 'New prices',
    }),
  },
  'PATCH /api/v1/analytics/annotations/:annotation_id': {
    ...byAnnotation,
    body: () => ({ text: 'New prices in euros' }),
  },
  'GET /api/v1/analytics/conversions': byProject,
  'GET /api/v1/analytics/journeys': byProject,
  'GET /api/v1/analytics/web-vitals': byProject,
  'GET /api/v1/analytics/shares': byProject,
  'GET /api/v1/analytics/shares/:share_id': byShare,
  'POST /api/v1/analytics/shares': {
    body: ({ projects }) => ({
      project_id: projects[0],
      name: 'For the agency',
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    }),
  },
  'GET /api/v1/privacy/subject': { query: () => ({ cookie_id: randomUUID() }) },
  'GET /api/v1/privacy/erasures': {},
  'GET /api/v1/privacy/erasures/:erasure_id': {
    params: ({ erasure }) => ({ erasure_id: erasure }),
  },
  'GET /api/v1/privacy/opt-outs': {},
  'POST /api/v1/privacy/opt-outs': { body: () => ({ cookie_id: randomUUID() }) },
  'DELETE /api/v1/privacy/opt-outs': { body: ({ optedOut }) => ({ cookie_id: optedOut }) },
  'DELETE /api/v1/privacy/subject': { body: () => ({ cookie_id: randomUUID(), opt_out: false }) },
  'GET /api/v1/field-catalog': {},
  'GET /api/v1/field-catalog/:name': { params: () => ({ name: 'hem' }) },
  'GET /api/v1/taxonomy': {},
  'GET /api/v1/taxonomy/:name': { params: () => ({ name: 'industries' }) },
  'GET /api/v1/whoami': {},
  'GET /api/v1/organization': {},
  'PUT /api/v1/organization': { body: () => ({ name: 'Renamed' }) },
  'POST /api/v1/organization/user/create': {
    body: () => ({ email: `${randomUUID()}@new.example`, role: 'member' }),
  },
  'GET /api/v1/event-deletions': byProject,
  'POST /api/v1/event-deletions': {
    body: ({ projects }) => ({
      project_id: projects[0],
      start_ms: 0,
      end_ms: 1_000,
      dry_run: true,
    }),
  },
  'POST /api/v1/rejected_events/resend': {
    body: ({ projects, pixels }) => ({
      project_id: projects[0],
      pixel_id: pixels[0],
      events: [{ event_id: 'broken' }],
    }),
  },
  'GET /api/v1/privacy/link-removals': {},
  'POST /api/v1/privacy/link-removals': {
    body: () => ({ cookie_id: randomUUID(), email: 'nobody@example.com' }),
  },
  'GET /api/v1/archives': byProject,
  'GET /api/v1/archives/:archive_id': byArchive,
  'POST /api/v1/archives': {
    body: ({ projects, buckets }) => ({ project_id: projects[0], integration_id: buckets[0] }),
  },
  'PATCH /api/v1/archives/:archive_id': {
    ...byArchive,
    body: () => ({ active: false }),
  },
  'DELETE /api/v1/archives/:archive_id': byArchive,
  'GET /api/v1/visit-alerts': byProject,
  'GET /api/v1/visit-alerts/:visit_alert_id': byVisitAlert,
  'POST /api/v1/visit-alerts': { body: ({ projects }) => visitAlertOf(projects[0]) },
  'PATCH /api/v1/visit-alerts/:visit_alert_id': { ...byVisitAlert, body: () => ({ name: 'Acme' }) },
  'GET /api/v1/analytics/alerts': byProject,
  'GET /api/v1/analytics/alerts/:alert_id': byAlert,
  'POST /api/v1/analytics/alerts': { body: ({ projects }) => alertOf(projects[0]) },
  'PATCH /api/v1/analytics/alerts/:alert_id': { ...byAlert, body: () => ({ name: 'Quiet' }) },
  'GET /api/v1/tracking-plan': byProject,
  'GET /api/v1/tracking-plan/unplanned': byProject,
  'PUT /api/v1/tracking-plan': {
    body: ({ projects }) => ({
      project_id: projects[0],
      on_violation: 'mark',
      on_unplanned: 'accept',
      events: { Ordered: { schema: { type: 'object' } } },
    }),
  },
  'GET /api/v1/organization/single-sign-on': {},
  'PUT /api/v1/organization/single-sign-on': {
    body: ({ member }) => ({
      sign_in_name: 'sample',
      provider_name: 'Sample',
      issuer: 'https://10.0.0.1',
      client_id: 'sample',
      client_secret: 'sample',
      email_domains: ['example.com'],
      group_roles: [],
      default_role: 'member',
      required: false,
      emergency_member_id: member,
    }),
  },
  'GET /api/v1/organization/user/list': {},
  'GET /api/v1/organization/user/retrieve/:member_id': {
    params: ({ member }) => ({ member_id: member }),
  },
  'PUT /api/v1/organization/user/update': {
    body: ({ member }) => ({ member_id: member, name: 'Renamed' }),
  },
  'POST /api/v1/project/create': { body: () => ({ name: 'Another' }) },
  'GET /api/v1/project/list': {},
  'GET /api/v1/project/retrieve/:project_id': {
    params: ({ projects }) => ({ project_id: projects[0] }),
  },
  'PUT /api/v1/project/update': {
    body: ({ projects }) => ({
      project_id: projects[0],
      name: 'Renamed',
      ignored_networks: ['203.0.113.0/24'],
      ignored_hosts: ['staging.example.com'],
      ignored_paths: ['/preview'],
      transit_hosts: ['login.example.com'],
    }),
  },
  'POST /api/v1/project/user/create': {
    body: ({ projects, owner }) => ({ project_id: projects[0], member_id: owner, role: 'member' }),
  },
  'GET /api/v1/project/user/list': byProject,
  'GET /api/v1/project/user/retrieve/:member_id': {
    ...byProject,
    params: ({ owner }) => ({ member_id: owner }),
  },
  'PUT /api/v1/project/user/update': {
    body: ({ projects, owner }) => ({ project_id: projects[0], member_id: owner, role: 'admin' }),
  },
  'POST /api/v1/pixel/create': {
    body: ({ projects }) => ({ project_id: projects[0], name: 'Another' }),
  },
  'GET /api/v1/project/activity': {},
  'GET /api/v1/pixel/list': byProject,
  'GET /api/v1/pixel/retrieve/:pixel_id': { params: ({ pixels }) => ({ pixel_id: pixels[0] }) },
  'GET /api/v1/pixel/activity/:pixel_id': { params: ({ pixels }) => ({ pixel_id: pixels[0] }) },
  'PUT /api/v1/pixel/update': { body: ({ pixels }) => ({ pixel_id: pixels[0], name: 'Renamed' }) },
  'GET /api/v1/pixel/identify-secrets/:pixel_id': {
    params: ({ pixels }) => ({ pixel_id: pixels[0] }),
  },
  'POST /api/v1/pixel/identify-secrets/rotate': { body: ({ pixels }) => ({ pixel_id: pixels[0] }) },
  'POST /api/v1/pixel/identify-secrets/retire': { body: ({ pixels }) => ({ pixel_id: pixels[0] }) },
  'GET /dashboard/session': {},
  'GET /dashboard/network': {},
  'PUT /dashboard/session': { body: ({ organizationId }) => ({ organization_id: organizationId }) },
  'PUT /dashboard/password': {
    body: () => ({ current_password: 'not the password', new_password: 'a new long password' }),
  },
  'GET /dashboard/email-summary': byProject,
  'PUT /dashboard/email-summary': {
    body: ({ projects }) => ({ project_id: projects[0], frequency: null }),
  },
  'GET /dashboard/account': {},
  'PUT /dashboard/account': { body: () => ({ name: 'Somebody else' }) },
  'POST /dashboard/email-change': {
    body: () => ({ email: 'new@customers.example', current_password: 'not the password' }),
  },
  'POST /dashboard/email-change/:token': { params: () => ({ token: 'no-such-token' }) },
  'GET /dashboard/sessions': {},
  'POST /dashboard/two-factor': { body: () => ({ current_password: 'not the password' }) },
  'PUT /dashboard/two-factor': { body: () => ({ code: '000000' }) },
  'POST /dashboard/two-factor/recovery-codes': {
    body: () => ({ current_password: 'not the password', code: '000000' }),
  },
  'DELETE /dashboard/two-factor': {
    body: () => ({ current_password: 'not the password', code: '000000' }),
  },
  'DELETE /dashboard/sessions/:session_id': { params: () => ({ session_id: randomUUID() }) },
  'GET /dashboard/operator/status': {},
  'GET /dashboard/operator/tenants': {},
  'GET /dashboard/operator/dead-letters': {},
  'POST /dashboard/operator/dead-letters/replay': {},
  'GET /dashboard/keys': {},
  'POST /dashboard/keys': { body: () => ({ name: 'New', mode: 'live', project_id: null }) },
  'DELETE /dashboard/keys/:key_id': { params: () => ({ key_id: randomUUID() }) },
  'GET /dashboard/audit': {},
  'DELETE /api/v1/exports/:export_id': byExport,
  'DELETE /api/v1/integrations/:integration_id': byIntegration,
  'DELETE /api/v1/webhooks/:webhook_id': byWebhook,
  'DELETE /api/v1/analytics/segments/:segment_id': bySegment,
  'DELETE /api/v1/analytics/funnels/:funnel_id': byFunnel,
  'DELETE /api/v1/analytics/annotations/:annotation_id': byAnnotation,
  'DELETE /api/v1/analytics/alerts/:alert_id': byAlert,
  'DELETE /api/v1/visit-alerts/:visit_alert_id': byVisitAlert,
  'DELETE /api/v1/analytics/shares/:share_id': byShare,
  'DELETE /api/v1/lists/:list_id/items': {
    ...byList,
    body: () => ({ items: ['cy@customers.example'] }),
  },
  'DELETE /api/v1/lists/:list_id': byList,
  'DELETE /api/v1/audiences/:audience_id': byAudience,
  'DELETE /api/v1/project/user/delete': {
    body: ({ projects, owner }) => ({ project_id: projects[0], member_id: owner }),
  },
  'DELETE /api/v1/organization/user/delete': { body: ({ member }) => ({ member_id: member }) },
  'DELETE /api/v1/pixel/delete': {
    body: ({ pixels }) => ({ pixel_id: pixels[0], events: 'keep' }),
  },
  'DELETE /api/v1/project/delete': {
    body: ({ projects }) => ({ project_id: projects[0], events: 'keep' }),
  },
  'DELETE /dashboard/sessions': {},
  'DELETE /dashboard/session': {},
  'DELETE /api/v1/organization/single-sign-on': {},
  'DELETE /api/v1/organization': { body: () => ({ confirm: 'not its name', events: 'keep' }) },
}
