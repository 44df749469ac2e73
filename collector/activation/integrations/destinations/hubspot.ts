import { Type } from 'typebox'
import { strictObject } from '../../../api/http/commonSchemas.ts'
import type { OutboundResponse } from '../../../platform/outbound/outbound.ts'
import { bisect } from './bisect.ts'
import {
  apiBase,
  type CallContext,
  call,
  fieldsBytesMax,
  readJson,
  requireAllowed,
} from './call.ts'
import {
  type DestinationContext,
  DestinationError,
  type DestinationField,
  type DestinationType,
  failed,
  type Outcome,
  type OutgoingRecord,
} from './destination.ts'

const settings = strictObject({ api_base: apiBase('https://api.hubapi.com') })
const secrets = strictObject({
  access_token: Type.String({
    minLength: 8,
    maxLength: 2_000,
    description: 'Token of a private app with the scopes crm.objects.contacts.read and .write.',
  }),
})

type Context = DestinationContext<{ api_base?: string }, { access_token: string }>

/** Wait after the daily limit, because HubSpot does not report when its day ends. */
const dailyLimitSeconds = 3_600

/**
 * Contacts of HubSpot, upserted by their e-mail address, 100 in a request. It answers 207 when it accepted
 * some of them:
 * https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/batch/post-crm-v3-objects-contacts-batch-upsert
 *
 * Contacts that were created are archived after an opt-out. Earlier contacts stay.
 */
export const hubspot: DestinationType<typeof settings, typeof secrets> = {
  settings,
  secrets,
  formats: ['crm'],
  chunkRecords: () => 100,
  defaultMapping: () => ({
    email: 'email',
    firstname: 'first_name',
    lastname: 'last_name',
    phone: 'phone',
    jobtitle: 'job_title',
    company: 'company_name',
  }),
  requiredFields: () => ['email'],
  identityField: () => 'email',
  // The lowest plan allows 100 requests in ten seconds.
  rate: { perSecond: 9, burst: 90 },
  removes: true,
  open: (context) => ({
    async check() {
      const fields = await readFields(context)
      return `Connected to HubSpot. Its contacts have ${fields.length} writable properties.`
    },
    fields: () => readFields(context),
    send: ({ records }) => bisect(records, (some) => upsert(context, some)),
    async remove(recipients) {
      const inputs = recipients.flatMap(({ remoteId }) => (remoteId ? [{ id: remoteId }] : []))
      if (inputs.length === 0) return
      const answer = await ask(context, 'POST', '/crm/v3/objects/contacts/batch/archive', {
        json: { inputs },
      })
      if (answer.status >= 400) throw refusalOf(answer, 'needs_action')
    },
  }),
}

async function readFields(context: Context): Promise<DestinationField[]> {
  const path = '/crm/v3/properties/contacts'
  const answer = await ask(context, 'GET', path, { responseBytesMax: fieldsBytesMax })
  if (answer.status !== 200) throw refusalOf(answer, 'needs_action')
  const { results } = readJson<{
    results: {
      name: string
      label: string
      calculated?: boolean
      modificationMetadata?: { readOnlyValue?: boolean }
    }[]
  }>(answer, baseOf(context))
  return results
    .filter(
      ({ calculated, modificationMetadata }) => !calculated && !modificationMetadata?.readOnlyValue,
    )
    .map(({ name, label }) => ({ name, label }))
}

interface BatchAnswer {
  results?: {
    id: string
    new?: boolean
    objectWriteTraceId?: string
    properties?: { email?: string }
  }[]
  errors?: { message?: string; context?: { objectWriteTraceId?: string[]; ids?: string[] } }[]
}

/** Upserts at most 100 contacts. Throws DestinationError if HubSpot refuses the complete request. */
async function upsert(context: Context, records: readonly OutgoingRecord[]): Promise<Outcome[]> {
  const answer = await ask(context, 'POST', '/crm/v3/objects/contacts/batch/upsert', {
    json: {
      inputs: records.map(({ key, values }) => ({
        id: emailOf(values),
        idProperty: 'email',
        objectWriteTraceId: String(key),
        properties: Object.fromEntries(
          Object.entries(values).map(([name, value]) => [name, String(value)]),
        ),
      })),
    },
  })
  if (answer.status >= 400) throw refusalOf(answer, 'never')
  const { results = [], errors = [] } = readJson<BatchAnswer>(answer, baseOf(context))
  const written = new Map<string, { id: string; new?: boolean }>()
  for (const result of results) {
    for (const name of [result.objectWriteTraceId, result.properties?.email?.toLowerCase()])
      if (name !== undefined) written.set(name, result)
  }
  const refused = new Map<string, string>()
  for (const { message = 'HubSpot gave no reason.', context: about } of errors) {
    for (const name of [...(about?.objectWriteTraceId ?? []), ...(about?.ids ?? [])])
      refused.set(name.toLowerCase(), message)
  }
  return records.map(({ key, values }) => {
    const [trace, email] = [String(key), emailOf(values).toLowerCase()]
    const contact = written.get(trace) ?? written.get(email)
    if (contact) return { exported: true, remoteId: contact.new ? contact.id : undefined }
    const reason = refused.get(trace) ?? refused.get(email)
    if (reason) return failed('never', reason)
    // HubSpot reported this record neither as accepted nor as refused, so it is retried.
    return failed('retry', errors[0]?.message ?? 'HubSpot’s answer does not contain this record.')
  })
}

const emailOf = (values: OutgoingRecord['values']): string => String(values.email)

const baseOf = ({ settings: { api_base } }: Context): string => api_base ?? 'https://api.hubapi.com'

async function ask(
  context: Context,
  method: 'GET' | 'POST',
  path: string,
  { json, ...limits }: { json?: object; responseBytesMax?: number },
): Promise<OutboundResponse> {
  const url = baseOf(context) + path
  const answer = await call(waitingForTheDay(context), {
    method,
    url,
    ...limits,
    headers: {
      authorization: `Bearer ${context.secrets.access_token}`,
      ...(json && { 'content-type': 'application/json' }),
    },
    ...(json && { body: JSON.stringify(json) }),
  })
  requireAllowed(answer, url, 'the access token, or it lacks a scope')
  return answer
}

/** Returns a context in which a 429 for the daily limit causes a longer wait. */
const waitingForTheDay = (context: Context): CallContext => ({
  ...context,
  outbound: {
    ...context.outbound,
    async send(request) {
      const answer = await context.outbound.send(request)
      if (answer.status !== 429 || !/"DAILY"|daily limit/i.test(answer.body.toString()))
        return answer
      throw new DestinationError(
        'retry',
        'HubSpot’s daily request limit is reached.',
        Number(answer.headers['retry-after']) || dailyLimitSeconds,
      )
    },
  },
})

function refusalOf(
  { status, body }: OutboundResponse,
  failureClass: 'needs_action' | 'never',
): DestinationError {
  let message = ''
  try {
    message = String((JSON.parse(body.toString()) as { message?: unknown }).message ?? '')
  } catch {}
  return new DestinationError(failureClass, `HubSpot answered ${status}: ${message.slice(0, 500)}`)
}
