import { Type } from 'typebox'
import { strictObject } from '../../../api/http/commonSchemas.ts'
import { signMessage } from '../../../platform/outbound/signature.ts'
import { call, hostOf } from './call.ts'
import {
  type Chunk,
  type DestinationContext,
  DestinationError,
  type DestinationType,
  exportedAll,
  type Outcome,
} from './destination.ts'

const settings = strictObject({
  url: Type.String({
    maxLength: 2_000,
    description: 'The http or https URL that receives records.',
  }),
})
const secrets = strictObject({
  signing_secret: Type.String({
    pattern: '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$',
    description:
      'The secret that signs messages (Standard Webhooks): whsec_ and 24 to 64 bytes in Base64.',
  }),
})

type Context = DestinationContext<{ url: string }, { signing_secret: string }>

/**
 * Posts signed JSON, as described by Standard Webhooks. `export.records` has the records of a chunk,
 * `export.ended` ends the run, and `export.removed` has the hems of people to remove. A chunk that is posted
 * again has the same webhook-id.
 */
export const webhook: DestinationType<typeof settings, typeof secrets> = {
  settings,
  secrets,
  formats: ['ndjson', 'hem'],
  chunkRecords: () => 500,
  rate: { perSecond: 200, burst: 200 },
  removes: true,
  open: (context) => ({
    async check() {
      await post(context, `check-${context.integrationId}`, 'export.check', {})
      return `${hostOf(context.settings.url)} accepted a signed message of the type export.check.`
    },
    fields: async () => null,
    send: (chunk) => send(context, chunk),
    async finish({ runId, exportName, recordsExported }) {
      await post(context, `${runId}-ended`, 'export.ended', {
        run_id: runId,
        export: exportName,
        records_exported: recordsExported,
      })
    },
    async remove(recipients) {
      const hems = recipients.map(({ hem }) => hem)
      await post(context, `removed-${crypto.randomUUID()}`, 'export.removed', { hems })
    },
  }),
}

async function send(
  context: Context,
  { runId, exportName, after, records }: Chunk,
): Promise<readonly Outcome[]> {
  await post(context, `${runId}-${after}`, 'export.records', {
    run_id: runId,
    export: exportName,
    records: records.map(({ values }) => values),
  })
  return exportedAll(records)
}

/** Only the status of a receiver's response counts. */
const onlyStatus = { takesPart: true, responseBytesMax: 1_024 }

/** Posts one message. Throws DestinationError for whatever is no success. */
async function post(context: Context, id: string, type: string, data: object): Promise<void> {
  const { url } = context.settings
  const nowMs = context.now()
  const body = JSON.stringify({ type, timestamp: new Date(nowMs).toISOString(), data })
  const { status } = await call(context, {
    method: 'POST',
    url,
    body,
    ...onlyStatus,
    headers: {
      'content-type': 'application/json',
      ...signMessage([context.secrets.signing_secret], { id, nowMs, body }),
    },
  })
  if (status >= 200 && status < 300) return
  // These statuses concern one body only; the others concern the address or the signature.
  const isOfBody = status === 400 || status === 413 || status === 422
  throw new DestinationError(isOfBody ? 'never' : 'mend', `${hostOf(url)} answered ${status}.`)
}
