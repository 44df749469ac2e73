import { randomBytes } from 'node:crypto'
import { createExport } from '../../activation/exports/exports.ts'
import { createIntegration } from '../../activation/integrations/integrations.ts'
import { createWebhook } from '../../activation/webhooks/webhooks.ts'
import { hourMs } from '../../platform/days.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import { newWebhookSecret } from '../../platform/outbound/signature.ts'
import type { OutboxEventType } from '../../platform/outbox/outbox.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'

/** The owner of the sample destinations, and the records sent to them. */
interface Sent {
  organizationId: string
  projectId: string
  listId: string
  hems: readonly string[]
  audience: { id: string; name: string }
}

/** DNS has no names below .example (RFC 2606): repeated runs and deliveries fail and report that. */
const host = (name: string): string => `https://${name}.kiln-lane.example`

/**
 * Stores sample destinations with a history: exports with runs and failed records, and a disabled webhook
 * with deliveries. This history is invented: nothing was sent or charged, and the service sends nothing to
 * these destinations by itself.
 */
export async function storeSampleDestinations(
  client: Queryable,
  secretBox: SecretBox,
  sent: Sent,
  now: Date,
) {
  const ago: Ago = (hours) => new Date(now.getTime() - hours * hourMs)
  const exports = await storeExports(client, secretBox, sent)
  const runs = await storeRuns(client, exports, sent.hems, ago)
  await storeDeliveries(client, secretBox, sent, { ...exports, ...runs }, ago)
}

/** The time so many hours before now. */
type Ago = (hours: number) => Date

/** Stores two integrations and an export to each; returns the ids of the exports. */
async function storeExports(
  client: Queryable,
  secretBox: SecretBox,
  { projectId: project_id, listId, audience }: Sent,
) {
  const crm = await createIntegration(client, secretBox, {
    project_id,
    type: 'webhook',
    name: 'Sample CRM',
    settings: { url: `${host('crm')}/footfall` },
    secrets: { signing_secret: newWebhookSecret() },
  })
  const bucket = await createIntegration(client, secretBox, {
    project_id,
    type: 's3',
    name: 'Sample bucket',
    settings: { endpoint: host('files'), bucket: 'kiln-lane-exports' },
    secrets: { access_key_id: 'sample', secret_access_key: randomBytes(20).toString('base64url') },
  })
  const toCrm = await createExport(client, {
    project_id,
    name: 'Customers to the CRM',
    list_id: listId,
    integration_id: crm,
    output_format: 'ndjson',
  })
  const toBucket = await createExport(client, {
    project_id,
    name: `${audience.name} as files`,
    audience_id: audience.id,
    integration_id: bucket,
    output_format: 'parquet',
  })
  return { toCrm, toBucket }
}

/** Stores a run with rejected records, one that stopped, and one that sent all; returns the ids of the last two. */
async function storeRuns(
  client: Queryable,
  { toCrm, toBucket }: { toCrm: string; toBucket: string },
  hems: readonly string[],
  ago: Ago,
) {
  const [wrong, again] = [hems.slice(0, 2), hems.slice(2, 3)]
  const unsent = hems.slice(Math.ceil(hems.length / 2))
  await storeRun(client, toCrm, {
    at: ago(150),
    format: 'ndjson',
    records: hems.length,
    exported: hems.length - 3,
    stop: null,
    outcomes: [
      ...wrong.map((hem) =>
        outcomeOf(hem, 'failed', 'crm.kiln-lane.example answered 422.', 'never'),
      ),
      ...again.map((hem) =>
        outcomeOf(
          hem,
          'duplicated',
          'The destination cannot distinguish it from another record of this run, which was sent.',
          null,
        ),
      ),
    ],
  })
  const stop = 'crm.kiln-lane.example answered 503. It was tried 8 times.'
  const stopped = await storeRun(client, toCrm, {
    at: ago(30),
    format: 'ndjson',
    records: hems.length,
    exported: hems.length - unsent.length,
    stop,
    outcomes: unsent.map((hem) => outcomeOf(hem, 'failed', stop, 'retry')),
  })
  const filed = await storeRun(client, toBucket, {
    at: ago(54),
    format: 'parquet',
    records: hems.length,
    exported: hems.length,
    stop: null,
    outcomes: [],
  })
  return { stopped, filed }
}

/** Stores a webhook, switched off, with its earlier deliveries. */
async function storeDeliveries(
  client: Queryable,
  secretBox: SecretBox,
  { organizationId, projectId: project_id, audience }: Sent,
  { toCrm, toBucket, stopped, filed }: Record<'toCrm' | 'toBucket' | 'stopped' | 'filed', string>,
  ago: Ago,
) {
  const { webhook } = await createWebhook(client, secretBox, organizationId, project_id, {
    url: `${host('hooks')}/footfall`,
    event_types: ['audience.built', 'export.run_ended'],
    description: 'A sample that is off: it receives nothing',
    enabled: false,
  })
  const ended = (run: string, exportId: string, status: string) => ({
    type: 'export.run_ended' as const,
    data: { export_id: exportId, run_id: run, status },
  })
  const built = {
    type: 'audience.built' as const,
    data: { id: audience.id, name: audience.name, project_id },
  }
  const took = { status: 'delivered', attempts: 1, response: 204, error: null }
  const deliveries = [
    { at: ago(55), ...built, ...took },
    { at: ago(54), ...ended(filed, toBucket, 'completed'), ...took, attempts: 3 },
    { at: ago(30), ...ended(stopped, toCrm, 'failed'), ...took },
    {
      at: ago(29),
      ...built,
      status: 'failed',
      attempts: 10,
      response: 500,
      error: 'The receiver answered 500.',
    },
  ]
  for (const delivery of deliveries) {
    await storeDelivery(
      client,
      { organizationId, projectId: project_id, webhookId: webhook.id },
      delivery,
    )
  }
}

interface Outcome {
  record: string
  outcome: 'failed' | 'duplicated'
  reason: string
  failureClass: 'retry' | 'never' | null
}

const outcomeOf = (
  record: string,
  outcome: Outcome['outcome'],
  reason: string,
  failureClass: Outcome['failureClass'],
): Outcome => ({ record, outcome, reason, failureClass })

async function storeRun(
  client: Queryable,
  exportId: string,
  run: {
    at: Date
    format: string
    records: number
    exported: number
    /** Why the run stopped; null: it was completed. */
    stop: string | null
    outcomes: readonly Outcome[]
  },
): Promise<string> {
  const failed = run.outcomes.filter(({ outcome }) => outcome === 'failed').length
  const runId = uuidV7(run.at.getTime())
  await client.query(
    `INSERT INTO export_runs (run_id, export_id, output_format, status, records_exported, records_failed, records_duplicated,
       done_key, stop_reason, stop_class, requested_by, is_project_key, requested_at, started_at, ended_at)
     VALUES ($9, $1, $2, CASE WHEN $7::text IS NULL THEN 'completed' ELSE 'failed' END, $4, $5, $6, $3, $7,
       CASE WHEN $7::text IS NOT NULL THEN 'retry' END, $1, false, $8, $8, $8::timestamptz + interval '40 s')`,
    [
      exportId,
      run.format,
      run.records,
      run.exported,
      failed,
      run.outcomes.length - failed,
      run.stop,
      run.at,
      runId,
    ],
  )
  await client.query(
    `INSERT INTO export_outcomes (run_id, key, outcome, record, reason, class, is_charged)
     SELECT $1, key, outcome, record, reason, class, true
     FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])
       WITH ORDINALITY AS outcomes (outcome, record, reason, class, key)`,
    [
      runId,
      ...(['outcome', 'record', 'reason', 'failureClass'] as const).map((name) =>
        run.outcomes.map((outcome) => outcome[name]),
      ),
    ],
  )
  return runId
}

async function storeDelivery(
  client: Queryable,
  {
    organizationId,
    projectId,
    webhookId,
  }: { organizationId: string; projectId: string; webhookId: string },
  delivery: {
    at: Date
    type: OutboxEventType
    data: object
    status: string
    attempts: number
    response: number
    error: string | null
  },
): Promise<void> {
  const { at, type, data, status, attempts, response, error } = delivery
  await client.query(
    `WITH message AS (
       INSERT INTO outbox_messages (message_id, organization_id, project_id, type, data, created_at, dispatched_at)
       VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $5) RETURNING message_id
     )
     INSERT INTO webhook_deliveries (delivery_id, webhook_id, message_id, status, attempts, attempts_of_round,
       next_attempt_at, last_attempt_at, response_status, response_body, error, created_at)
     SELECT gen_random_uuid(), $6, message_id, $7, $8, $8, NULL, $5, $9, '', $10, $5 FROM message`,
    [
      organizationId,
      projectId,
      type,
      JSON.stringify(data),
      at,
      webhookId,
      status,
      attempts,
      response,
      error,
    ],
  )
}
