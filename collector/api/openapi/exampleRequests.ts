import { sampleIdentity } from '../access/sandboxTenant.ts'

/** A request that a test key may send: its answer is of the sample data. */
export interface ExampleRequest {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const { projectId: project_id, pixelId: pixel_id, campaignId: campaign_id } = sampleIdentity
const { audienceId: audience_id, memberId: member_id } = sampleIdentity
const integration_id = '5a3b1e00-0000-4000-8000-0000000000e3'
const cookie_id = '83d7b185-b22f-43b0-82f8-780b10a3f117'
const sent_at = '2026-11-01T09:30:00Z'
const hem = '3893ca3072ef78c89677774e6aa3fba7bffad452cde2eda909b5b6f98767baf9'
const dayMs = { start_ms: 1_767_225_600_000, end_ms: 1_767_312_000_000 }
const day = { start_ms: String(dayMs.start_ms), end_ms: String(dayMs.end_ms) }
const pageView = {
  event_id: '0b8a2f6e-4c1d-4e57-9a3f-6d2c1b7e8f90',
  event_type: 'page_view',
  event_data: {
    url: 'https://pottery.example/pricing',
    title: 'Pricing',
    referrer: null,
    screen: { height: 1080, width: 1920 },
    viewport: { height: 900, width: 1600 },
    timestamp: '2026-11-01T09:30:00.000Z',
  },
}
const message = { writeKey: pixel_id, anonymousId: cookie_id, timestamp: sent_at }
const columns = 'timestamp,event_type,page_path,event_data'

export const exampleIds: Readonly<Record<string, string>> = {
  organization_id: sampleIdentity.organizationId,
  'X-Project-Id': project_id,
  project_id,
  pixel_id,
  campaign_id,
  audience_id,
  member_id,
  integration_id,
  build_id: sampleIdentity.buildId,
  list_id: sampleIdentity.listId,
  import_id: sampleIdentity.importId,
  webhook_id: sampleIdentity.webhookId,
  delivery_id: sampleIdentity.deliveryId,
  share_id: sampleIdentity.shareId,
  segment_id: sampleIdentity.segmentId,
  funnel_id: sampleIdentity.funnelId,
  annotation_id: sampleIdentity.annotationId,
  alert_id: sampleIdentity.alertId,
  archive_id: sampleIdentity.archiveId,
  visit_alert_id: sampleIdentity.visitAlertId,
  erasure_id: sampleIdentity.erasureId,
  export_id: '5a3b1e00-0000-4000-8000-0000000000f3',
  run_id: '5a3b1e00-0000-4000-8000-1000000000f3',
  event_id: '00000000-0000-4000-8000-000000000000',
}

/** What operations are asked in the documentation, except for the ids. */
export const exampleRequests: Readonly<Record<string, ExampleRequest>> = {
  'POST /e': {
    body: {
      pixel_id,
      cookie_id,
      sent_at,
      events: [pageView],
    },
  },
  'POST /api/v1/track': {
    body: { ...message, event: 'Ordered', properties: { value: 42, currency: 'EUR' } },
  },
  'POST /api/v1/page': {
    body: { ...message, name: 'Pricing', properties: { url: 'https://pottery.example/pricing' } },
  },
  'POST /api/v1/screen': { body: { ...message, name: 'Basket' } },
  'POST /api/v1/identify': { body: { ...message, traits: { email: 'ada@customers.example' } } },
  'POST /api/v1/group': { body: { ...message, groupId: 'acme', traits: { plan: 'team' } } },
  'POST /api/v1/alias': {
    body: { ...message, previousId: 'visitor-1', traits: { email: 'ada@customers.example' } },
  },
  'POST /api/v1/batch': {
    body: {
      writeKey: pixel_id,
      batch: [{ type: 'track', anonymousId: cookie_id, event: 'Ordered' }],
    },
  },
  'GET /p/{file}': { params: { file: `${pixel_id}.js` } },
  'POST /api/v1/rejected_events/resend': {
    body: {
      project_id,
      pixel_id,
      cookie_id,
      events: [pageView],
    },
  },
  'POST /api/v1/campaigns/events': {
    body: {
      events: [
        {
          event_id: '35d440ce-6a98-47ff-baa3-2f512cf7c2cc',
          event_type: 'click',
          campaign_id,
          ts: '2026-11-01T09:30:00Z',
          spend: 0.42,
        },
      ],
    },
  },
  'GET /api/v3/events/web_event': {
    query: { filter: 'event_type:eq:click', select: columns, limit: '2' },
  },
  'GET /api/v3/events/resolution_hem': {
    query: { filter: 'resolved:eq:true', select: `${columns},hem`, limit: '1' },
  },
  'GET /api/v3/events/resolution_hem_pte': {
    query: { filter: 'resolved:eq:true', select: `${columns},hem,pte_person_id`, limit: '1' },
  },
  'GET /api/v3/events/resolution_full_profile': {
    query: {
      filter: 'has_profile:eq:true',
      select: 'timestamp,event_type,hem,first_name,last_name,job_title,company_name',
      limit: '2',
    },
  },
  'GET /api/v3/events/web_event/counts': { query: { group_by: 'event_type' } },
  'GET /api/v3/events/resolution_hem/visitors': {
    query: { ...day, select: 'hem,timestamp,page_path', limit: '2' },
  },
  'GET /api/v3/events/resolution_hem_pte/visitors': {
    query: { ...day, select: 'hem,timestamp,page_path', limit: '2' },
  },
  'GET /api/v3/events/resolution_full_profile/visitors': {
    query: { ...day, select: 'hem,timestamp,page_path', limit: '2' },
  },
  'GET /api/v1/events': { query: { ...day, select: columns, limit: '1' } },
  'GET /api/v2/events': { query: { ...day, select: columns, limit: '1' } },
  'GET /api/v1/events/scan_estimate': { query: { ...day } },
  'GET /api/v1/event_counts': { query: { ...day } },
  'GET /api/v1/event_counts_index': { query: { ...day } },
  'GET /api/v1/lookup': { query: { hem, select: 'first_name,last_name,job_title,company_name' } },
  'POST /api/v1/lookup': { body: { hem, select: 'first_name,last_name,job_title,company_name' } },
  'POST /api/v1/lookup/batch': {
    body: {
      items: [
        { id: 'a', hem },
        { id: 'b', email: 'nobody@nowhere.example' },
      ],
      select: 'first_name,company_name',
    },
  },
  'GET /api/v1/lookup/company': { query: { domain: 'nowhere.example' } },
  'GET /api/v1/lookup/cookie': { query: { cookie_id } },
  'POST /api/v1/contact/query': {
    body: {
      filter: 'job_title:like:Director%',
      select: 'first_name,job_title,company_name',
      limit: 2,
    },
  },
  'POST /api/v1/event-deletions': {
    body: { project_id, start_ms: 0, end_ms: 1000, dry_run: true },
  },
  'GET /api/v1/analytics/overview': { query: { ...day, compare: 'previous' } },
  'GET /api/v1/analytics/timeseries': {
    query: { ...day, interval: 'day', include: 'conversions' },
  },
  'GET /api/v1/analytics/breakdown': {
    query: { ...day, dimensions: 'page_path,country', limit: '3' },
  },
  'POST /api/v1/analytics/funnel': {
    body: { project_id, ...dayMs, steps: ['event_type:eq:page_view', 'event_type:eq:search'] },
  },
  'GET /api/v1/analytics/retention': { query: { ...day, interval: 'day' } },
  'GET /api/v1/analytics/journeys': { query: { ...day, steps: '1', pages: '2' } },
  'PUT /api/v1/analytics/goals': {
    body: { project_id, goals: [{ name: 'Ordered', filter: 'page_path:eq:/thanks' }] },
  },
  'POST /api/v1/analytics/segments': {
    body: { project_id, name: 'Visitors from Germany', filter: 'country:eq:DE' },
  },
  'PATCH /api/v1/analytics/segments/{segment_id}': { body: { filter: 'country:in:DE|AT' } },
  'POST /api/v1/analytics/funnels': {
    body: {
      project_id,
      name: 'Orders',
      steps: ['page_path:eq:/pricing', 'event_type:eq:form_submission'],
      within_ms: 3600000,
    },
  },
  'PATCH /api/v1/analytics/funnels/{funnel_id}': { body: { within_ms: 3600000 } },
  'POST /api/v1/analytics/annotations': {
    body: { project_id, at: '2026-03-01T09:00:00Z', text: 'New prices' },
  },
  'PATCH /api/v1/analytics/annotations/{annotation_id}': { body: { text: 'New prices in euros' } },
  'POST /api/v1/analytics/visitors': {
    body: {
      project_id,
      ...dayMs,
      steps: ['event_type:eq:page_view', 'event_type:eq:search'],
      outcome: 'reached',
      limit: 2,
    },
  },
  'POST /api/v1/analytics/alerts': {
    body: { project_id, name: 'Quiet', condition: { kind: 'silence', window: 'hour' } },
  },
  'PATCH /api/v1/analytics/alerts/{alert_id}': { body: { name: 'Quiet' } },
  'POST /api/v1/analytics/shares/unlock': {
    body: { secret: 'ffs_Zk3mB1xQ9sT7vW2yA5cE8gH0', password: 'a password' },
  },
  'POST /api/v1/analytics/shares': {
    body: { project_id, name: 'For the agency', expires_at: '2027-11-01T00:00:00Z' },
  },
  'POST /api/v1/audiences': {
    body: {
      name: 'Another',
      definition: { entity: 'people', include: { event: { within_days: 7 } } },
    },
  },
  'PATCH /api/v1/audiences/{audience_id}': { body: { name: 'Renamed' } },
  'POST /api/v1/audiences/{audience_id}/clone': { body: { name: 'A clone' } },
  'POST /api/v1/audiences/sample': {
    body: { definition: { entity: 'people', include: { event: { within_days: 7 } } } },
  },
  'GET /api/v1/audiences/{audience_id}/builds/{build_id}/changes': { query: { page_size: '1' } },
  'GET /api/v1/audiences/{audience_id}/explain': { query: { email: 'somebody@known.example' } },
  'GET /api/v1/audience_files/{name}': {
    params: { name: `${sampleIdentity.buildId}.csv` },
    query: { ticket: 'eyJidWlsZCI6IjVhM2IxZTAwIn0' },
  },
  'POST /api/v1/intent/batch': {
    body: {
      items: [
        { id: 'a', email: 'somebody@known.example' },
        { id: 'b', email: 'not one' },
      ],
    },
  },
  'POST /api/v1/intent/people': { body: { topic: 'golf' } },
  'POST /api/v1/intent/people/preview': { body: { topic: 'golf' } },
  'POST /api/v1/intent/people/multi': { body: { topics: ['golf', 'wine'] } },
  'POST /api/v1/intent/people/multi/preview': { body: { topics: ['golf', 'wine'] } },
  'POST /api/v1/intent/companies': { body: { topic: 'golf' } },
  'POST /api/v1/intent/companies/preview': { body: { topic: 'golf' } },
  'POST /api/v1/intent/companies/multi': { body: { topics: ['golf', 'wine'] } },
  'POST /api/v1/intent/companies/multi/preview': { body: { topics: ['golf', 'wine'] } },
  'GET /api/v1/stats/tables/intent-daily-per-topic-stats': { query: { topic: 'golf' } },
  'PUT /api/v1/intent/rules': { body: { rules: [{ topic: 'golf', path: '/golf%' }] } },
  'PUT /api/v1/billing/limits': { body: { budgets: [], limits: [] } },
  'GET /api/v1/field-catalog': { query: { tier: 'resolution_hem', group: 'identity' } },
  'GET /api/v1/field-catalog/{name}': { params: { name: 'hem' } },
  'GET /api/v1/taxonomy/{name}': { params: { name: 'seniorities' } },
  'PUT /api/v1/organization': { body: { name: 'Renamed' } },
  'DELETE /api/v1/organization': { body: { confirm: 'Sample organization', events: 'keep' } },
  'PUT /api/v1/organization/single-sign-on': {
    body: {
      sign_in_name: 'acme',
      provider_name: 'Acme sign-in',
      issuer: 'https://login.example.com',
      client_id: 'footfall',
      client_secret: 'a secret of the provider',
      email_domains: ['example.com'],
      group_roles: [],
      default_role: 'member',
      required: false,
      emergency_member_id: member_id,
    },
  },
  'POST /auth/v1/login': { body: { email: 'ann@example.com', password: 'a password' } },
  'POST /api/v1/organization/user/create': { body: { email: 'ada@new.example', role: 'member' } },
  'PUT /api/v1/organization/user/update': { body: { member_id, name: 'Renamed' } },
  'DELETE /api/v1/organization/user/delete': { body: { member_id } },
  'POST /api/v1/project/create': { body: { name: 'Another' } },
  'PUT /api/v1/project/update': {
    body: {
      project_id,
      name: 'Renamed',
      ignored_networks: ['203.0.113.0/24'],
      ignored_hosts: ['staging.example.com'],
      ignored_paths: ['/preview'],
      transit_hosts: ['login.example.com'],
    },
  },
  'DELETE /api/v1/project/delete': { body: { project_id, events: 'keep' } },
  'PUT /api/v1/tracking-plan': {
    body: {
      project_id,
      on_violation: 'mark',
      on_unplanned: 'accept',
      events: { Ordered: { schema: { type: 'object' } } },
    },
  },
  'POST /api/v1/project/user/create': {
    body: { project_id, member_id: '5a3b1e00-0000-4000-8000-0000000000a1', role: 'member' },
  },
  'PUT /api/v1/project/user/update': { body: { project_id, member_id, role: 'admin' } },
  'DELETE /api/v1/project/user/delete': { body: { project_id, member_id } },
  'POST /api/v1/pixel/create': { body: { project_id, name: 'Another' } },
  'PUT /api/v1/pixel/update': { body: { pixel_id, name: 'Renamed' } },
  'DELETE /api/v1/pixel/delete': { body: { pixel_id, events: 'keep' } },
  'POST /api/v1/pixel/identify-secrets/rotate': { body: { pixel_id } },
  'POST /api/v1/pixel/identify-secrets/retire': { body: { pixel_id } },
  'DELETE /api/v1/privacy/subject': {
    body: { cookie_id: '77f69e53-4eab-4466-bed6-e52a2c0cdd46', opt_out: false },
  },
  'GET /api/v1/privacy/subject': { query: { cookie_id: '227767fa-a5a0-437f-be5b-be2e37edbed8' } },
  'POST /api/v1/privacy/opt-outs': { body: { cookie_id: 'ac3e2820-ecfd-4952-87e9-4f009b3012d2' } },
  'DELETE /api/v1/privacy/opt-outs': {
    body: { cookie_id: '5a3b1e00-0000-4000-8000-000000000b06' },
  },
  'POST /api/v1/privacy/link-removals': {
    body: { cookie_id: '2f2e5741-be2a-4586-86af-673fb57484ad', email: 'nobody@example.com' },
  },
  'POST /api/v1/lists': {
    body: { project_id, name: 'Customers', kind: 'emails', items: ['ada@customers.example'] },
  },
  'PATCH /api/v1/lists/{list_id}': { body: { name: 'Renamed' } },
  'DELETE /api/v1/lists/{list_id}/items': { body: { items: ['cy@customers.example'] } },
  'POST /api/v1/lists/{list_id}/items': { body: { items: ['ben@customers.example'] } },
  'GET /api/v1/campaigns': { query: { limit: '1' } },
  'POST /api/v1/campaigns': {
    body: { project_id, name: 'Another', status: 'draft', start_date: '2026-01-01' },
  },
  'PATCH /api/v1/campaigns/{campaign_id}': { body: { name: 'Renamed' } },
  'POST /api/v1/webhooks': {
    body: { project_id, url: 'https://8.8.8.8/hooks', event_types: ['audience.built'] },
  },
  'PATCH /api/v1/webhooks/{webhook_id}': { body: { description: 'Renamed' } },
  'POST /api/v1/webhooks/{webhook_id}/replay': { body: { since: '2026-11-01T09:30:00Z' } },
  'POST /api/v1/visit-alerts': {
    body: {
      project_id,
      name: 'Acme',
      tier: 'resolution_full_profile',
      match: { kind: 'company', company_domain: 'acme.example' },
    },
  },
  'PATCH /api/v1/visit-alerts/{visit_alert_id}': { body: { name: 'Acme' } },
  'POST /api/v1/archives': { body: { project_id, integration_id } },
  'PATCH /api/v1/archives/{archive_id}': { body: { active: false } },
  'POST /api/v1/integrations': {
    body: {
      project_id,
      type: 's3',
      name: 'Another',
      settings: { bucket: 'another-bucket' },
      secrets: { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'an example' },
    },
  },
  'PATCH /api/v1/integrations/{integration_id}': { body: { name: 'Renamed' } },
  'POST /api/v1/exports': {
    body: { project_id, name: 'Another', audience_id, integration_id, output_format: 'ndjson' },
  },
  'PATCH /api/v1/exports/{export_id}': { body: { name: 'Renamed' } },
}
