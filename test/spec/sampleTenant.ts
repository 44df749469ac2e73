import { randomUUID } from 'node:crypto'
import { sampleExportId, sampleRunId } from '../../collector/activation/exports/sampleExport.ts'
import { sampleIntegrationId } from '../../collector/activation/integrations/sampleIntegration.ts'
import { sampleIdentity } from '../../collector/api/access/sandboxTenant.ts'
import { sampleOptedOut } from '../../collector/ops/sandbox/sampleRecords.ts'
import { type Sample, samples } from './samples.ts'
import type { Tenant } from './tenant.ts'

/** The sample, as the routes' samples name a tenant. */
const twice = (id: string): [string, string] => [id, id]
const sampleTenant = {
  organizationId: sampleIdentity.organizationId,
  projects: twice(sampleIdentity.projectId),
  pixels: twice(sampleIdentity.pixelId),
  campaigns: twice(sampleIdentity.campaignId),
  webhooks: twice(sampleIdentity.webhookId),
  delivery: sampleIdentity.deliveryId,
  shares: twice(sampleIdentity.shareId),
  segments: twice(sampleIdentity.segmentId),
  funnels: twice(sampleIdentity.funnelId),
  annotations: twice(sampleIdentity.annotationId),
  alerts: twice(sampleIdentity.alertId),
  archives: twice(sampleIdentity.archiveId),
  visitAlerts: twice(sampleIdentity.visitAlertId),
  integrations: twice(sampleIntegrationId('s3')),
  buckets: twice(sampleIntegrationId('s3')),
  exports: twice(sampleExportId('s3')),
  sentExport: sampleExportId('s3'),
  sentRun: sampleRunId(sampleExportId('s3')),
  audiences: twice(sampleIdentity.audienceId),
  builds: twice(sampleIdentity.buildId),
  lists: twice(sampleIdentity.listId),
  imports: twice(sampleIdentity.importId),
  erasure: sampleIdentity.erasureId,
  optedOut: sampleOptedOut,
  owner: '5a3b1e00-0000-4000-8000-0000000000a1',
  member: sampleIdentity.memberId,
} as Tenant

/** Bodies that the sample takes, where those of the table are refused for a live tenant, too. */
const bodies: Record<string, () => Record<string, unknown>> = {
  'POST /api/v1/campaigns/events': () => ({
    events: [
      {
        event_id: randomUUID(),
        event_type: 'click',
        campaign_id: sampleIdentity.campaignId,
        ts: new Date().toISOString(),
        spend: 0.42,
      },
    ],
  }),
  'POST /api/v1/exports': () => ({
    project_id: sampleIdentity.projectId,
    name: 'Another',
    audience_id: sampleIdentity.audienceId,
    integration_id: sampleIntegrationId('s3'),
    output_format: 'ndjson',
  }),
  // The example must hold for long.
  'POST /api/v1/analytics/shares': () => ({
    project_id: sampleIdentity.projectId,
    name: 'For the agency',
    expires_at: new Date(Date.now() + 365 * 86_400_000).toISOString(),
  }),
  'DELETE /api/v1/organization': () => ({ confirm: 'Sample organization', events: 'keep' }),
  'PUT /api/v1/project/user/update': () => ({
    project_id: sampleIdentity.projectId,
    member_id: sampleIdentity.memberId,
    role: 'admin',
  }),
  'DELETE /api/v1/project/user/delete': () => ({
    project_id: sampleIdentity.projectId,
    member_id: sampleIdentity.memberId,
  }),
}
/** The answer to a live key about such records is the same: they allow no action now. */
export const sampleRefusals: Record<string, number> = {
  'DELETE /api/v1/integrations/:integration_id': 409,
  'POST /api/v1/archives': 409,
  'DELETE /api/v1/audiences/:audience_id': 409,
  // The sample organization has no provider, and nobody in it signs in.
  'PUT /api/v1/organization/single-sign-on': 400,
  'DELETE /api/v1/organization/single-sign-on': 404,
}

/** How a route is asked about the sample; null for one that the table of samples lacks. */
export function askedOfSample(name: string): {
  params: Record<string, string>
  query: Record<string, string>
  body: Record<string, unknown> | undefined
} | null {
  const sample: Sample | undefined = samples[name]
  if (!sample) return null
  return {
    params: sample.params?.(sampleTenant) ?? {},
    query: sample.query?.(sampleTenant) ?? {},
    body: (bodies[name] ?? sample.body)?.(sampleTenant),
  }
}
