import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { strictObject } from '../../../api/http/commonSchemas.ts'
import type { OutboundResponse } from '../../../platform/outbound/outbound.ts'
import { bisect } from './bisect.ts'
import { apiBase, call, readJson } from './call.ts'
import {
  type Chunk,
  type DestinationContext,
  DestinationError,
  type DestinationType,
  exportedAll,
  failed,
  type Outcome,
} from './destination.ts'

const settings = strictObject({
  custom_audience_id: Type.String({
    pattern: '^[0-9]{1,30}$',
    description: 'The custom audience to add people to.',
  }),
  api_base: apiBase('https://graph.facebook.com'),
})
const secrets = strictObject({
  access_token: Type.String({
    minLength: 8,
    maxLength: 2_000,
    description: 'Token with the permission ads_management.',
  }),
})

type Context = DestinationContext<
  { custom_audience_id: string; api_base?: string },
  { access_token: string }
>

const version = 'v25.0'
/** Meta's codes for limits: of the app, of the user, of the account, of custom audiences (80003). */
const limitCodes = new Set([4, 17, 32, 613, 80003])
/** Meta's codes for tokens and permissions. */
const accessCodes = new Set([10, 102, 190, 200, 294])
const limitSeconds = 300

/**
 * A custom audience of Meta: hems as hashed e-mail addresses, at most 10,000 in a request, each chunk in its
 * own session. Meta does not report which people it knows, only how many entries it could not read:
 * https://developers.facebook.com/docs/marketing-api/reference/custom-audience/users
 */
export const metaAds: DestinationType<typeof settings, typeof secrets> = {
  settings,
  secrets,
  formats: ['hem'],
  chunkRecords: () => 5_000,
  rate: { perSecond: 5, burst: 10 },
  removes: true,
  open: (context) => ({
    async check() {
      const { name } = await readJson<{ name?: string }>(
        await ask(context, 'GET', '?fields=name,operation_status'),
        baseOf(context),
      )
      return `Connected to Meta. The custom audience ${name ?? context.settings.custom_audience_id} exists.`
    },
    fields: async () => null,
    send: (chunk) => send(context, chunk),
    async remove(recipients) {
      await ask(context, 'DELETE', '/users', payloadOf(recipients.map(({ hem }) => hem)))
    },
  }),
}

interface Received {
  num_received: number
  num_invalid_entries: number
  invalid_entry_samples?: unknown
}

async function send(context: Context, chunk: Chunk): Promise<readonly Outcome[]> {
  return bisect(chunk.records, async (records) => {
    const hems = records.map(({ id }) => id)
    const session = {
      session_id: sessionOf(chunk.runId, records[0]!.key),
      batch_seq: 1,
      last_batch_flag: true,
      estimated_num_total: records.length,
    }
    const answer = await ask(context, 'POST', '/users', { session, ...payloadOf(hems) })
    const { num_received, num_invalid_entries, invalid_entry_samples } = readJson<Received>(
      answer,
      baseOf(context),
    )
    if (num_received === records.length && num_invalid_entries === 0) return exportedAll(records)
    const invalid = new Set(JSON.stringify(invalid_entry_samples ?? []).match(/[0-9a-f]{64}/g))
    if (num_received === records.length && invalid.size === num_invalid_entries) {
      return hems.map((hem) =>
        invalid.has(hem) ? failed('never', 'Meta cannot read this entry.') : { exported: true },
      )
    }
    // Meta does not report which entries these are, so the request is bisected.
    throw new DestinationError('never', 'Meta cannot read this entry.')
  })
}

const payloadOf = (hems: readonly string[]) => ({
  payload: { schema: ['EMAIL_SHA256'], data: hems.map((hem) => [hem]) },
})

/** Returns a positive 64-bit number that is the same in every try, and that a double represents exactly. */
const sessionOf = (runId: string, key: number): number =>
  createHash('sha256').update(`${runId} ${key}`).digest().readUIntBE(0, 6) + 1

const baseOf = ({ settings: { api_base } }: Context): string =>
  api_base ?? 'https://graph.facebook.com'

async function ask(
  context: Context,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  json?: object,
): Promise<OutboundResponse> {
  const url = `${baseOf(context)}/${version}/${context.settings.custom_audience_id}${path}`
  const answer = await call(context, {
    method,
    url,
    headers: {
      authorization: `Bearer ${context.secrets.access_token}`,
      ...(json && { 'content-type': 'application/json' }),
    },
    ...(json && { body: JSON.stringify(json) }),
  })
  if (answer.status < 400) return answer
  const { code = 0, message = '', is_transient = false, error_user_msg } = errorOf(answer)
  const reason = `Meta answered ${answer.status}: ${error_user_msg ?? message}`.slice(0, 500)
  if (limitCodes.has(code)) throw new DestinationError('retry', reason, limitSeconds)
  if (is_transient || code === 1 || code === 2) throw new DestinationError('retry', reason)
  const isForbidden = answer.status === 401 || answer.status === 403 || answer.status === 404
  if (accessCodes.has(code) || isForbidden) throw new DestinationError('needs_action', reason)
  throw new DestinationError('never', reason)
}

interface MetaError {
  code?: number
  message?: string
  is_transient?: boolean
  error_user_msg?: string
}

function errorOf({ body }: OutboundResponse): MetaError {
  try {
    return (JSON.parse(body.toString()) as { error?: MetaError }).error ?? {}
  } catch {
    return {}
  }
}
