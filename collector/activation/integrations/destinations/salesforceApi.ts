import type { OutboundRequest, OutboundResponse } from '../../../platform/outbound/outbound.ts'
import { type CallContext, call, fieldsBytesMax, readJson } from './call.ts'
import { DestinationError, type DestinationField } from './destination.ts'

interface SalesforceContext extends CallContext {
  readonly settings: { readonly instance_url: string }
  readonly secrets: {
    readonly client_id: string
    readonly client_secret: string
    readonly refresh_token?: string
  }
}

interface SalesforceField extends DestinationField {
  /** Whether this field can be the key of an upsert. */
  readonly isLookup: boolean
}

type JobState = 'Open' | 'UploadComplete' | 'InProgress' | 'JobComplete' | 'Failed' | 'Aborted'

/** The parts of Salesforce's REST API and Bulk API 2.0 that are used. All throw DestinationError. */
export interface Salesforce {
  fields(object: string): Promise<SalesforceField[]>
  createJob(object: string, externalIdField: string): Promise<string>
  upload(jobId: string, csv: string): Promise<void>
  closeJob(jobId: string): Promise<void>
  abortJob(jobId: string): Promise<void>
  jobState(jobId: string): Promise<JobState>
  /** Reads rows of a job as CSV, up to a number of bytes. */
  results(
    jobId: string,
    which: 'successfulResults' | 'failedResults',
    bytesMax: number,
  ): Promise<string>
  deleteRecords(ids: readonly string[]): Promise<void>
}

const version = 'v62.0'
/** Wait after the limit, which applies to any 24 hours. */
const limitSeconds = 3_600
/** How many records one request deletes. */
const deletesMax = 200

export function openSalesforce(context: SalesforceContext): Salesforce {
  const base = context.settings.instance_url
  const { ask, askJson } = createSession(context)
  const job = (jobId: string) => `/jobs/ingest/${encodeURIComponent(jobId)}`

  return {
    async fields(object) {
      const answer = await ask(
        { method: 'GET', responseBytesMax: fieldsBytesMax },
        `/sobjects/${object}/describe`,
      )
      const { fields } = readJson<{
        fields: {
          name: string
          label: string
          createable: boolean
          externalId: boolean
          idLookup: boolean
        }[]
      }>(answer, base)
      return fields
        .filter(({ createable }) => createable)
        .map(({ name, label, externalId, idLookup }) => ({
          name,
          label,
          isLookup: externalId || idLookup,
        }))
    },
    async createJob(object, externalIdField) {
      const answer = await askJson('POST', '/jobs/ingest', {
        object,
        operation: 'upsert',
        externalIdFieldName: externalIdField,
        contentType: 'CSV',
        lineEnding: 'LF',
      })
      return readJson<{ id: string }>(answer, base).id
    },
    async upload(jobId, csv) {
      await ask(
        { method: 'PUT', headers: { 'content-type': 'text/csv' }, body: csv },
        `${job(jobId)}/batches`,
      )
    },
    async closeJob(jobId) {
      await askJson('PATCH', job(jobId), { state: 'UploadComplete' })
    },
    async abortJob(jobId) {
      await askJson('PATCH', job(jobId), { state: 'Aborted' })
    },
    async jobState(jobId) {
      return readJson<{ state: JobState }>(await ask({ method: 'GET' }, job(jobId)), base).state
    },
    async results(jobId, which, bytesMax) {
      const answer = await ask(
        { method: 'GET', headers: { accept: 'text/csv' }, responseBytesMax: bytesMax },
        `${job(jobId)}/${which}/`,
      )
      return answer.body.toString()
    },
    async deleteRecords(ids) {
      for (let from = 0; from < ids.length; from += deletesMax) {
        const some = ids.slice(from, from + deletesMax).join(',')
        await ask({ method: 'DELETE' }, `/composite/sobjects?ids=${some}&allOrNone=false`)
      }
    },
  }
}

/** Sends requests with an access token, and logs in again when it expires. */
function createSession(context: SalesforceContext) {
  let token: Promise<string> | null = null

  const ask = async (
    request: Omit<OutboundRequest, 'url'>,
    path: string,
  ): Promise<OutboundResponse> => {
    const url = `${context.settings.instance_url}/services/data/${version}${path}`
    for (const isLast of [false, true]) {
      token ??= logIn(context).catch((error) => {
        token = null
        throw error
      })
      const headers = { authorization: `Bearer ${await token}`, ...request.headers }
      const answer = await call(context, { ...request, url, headers })
      if (answer.status !== 401 || isLast) return requireTaken(answer)
      // The session has expired, so the next request logs in again.
      token = null
    }
    throw new Error('unreachable')
  }
  const askJson = (method: 'POST' | 'PATCH', path: string, json: object) =>
    ask(
      { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) },
      path,
    )
  return { ask, askJson }
}

/** An access token, by the refresh token or the app's own credentials (OAuth 2.0, RFC 6749, 4.4 and 6). */
async function logIn(context: SalesforceContext): Promise<string> {
  const { client_id, client_secret, refresh_token } = context.secrets
  const url = `${context.settings.instance_url}/services/oauth2/token`
  const answer = await call(context, {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      client_id,
      client_secret,
      ...(refresh_token === undefined
        ? { grant_type: 'client_credentials' }
        : { grant_type: 'refresh_token', refresh_token }),
    }).toString(),
  })
  if (answer.status !== 200) {
    throw new DestinationError(
      'needs_action',
      `Salesforce refused the connected app (${answer.status}).`,
    )
  }
  return readJson<{ access_token: string }>(answer, url).access_token
}

function requireTaken(answer: OutboundResponse): OutboundResponse {
  const { status, body } = answer
  if (status < 400) return answer
  const { errorCode, message } = errorOf(body)
  if (errorCode === 'REQUEST_LIMIT_EXCEEDED') {
    throw new DestinationError(
      'retry',
      'Salesforce’s request limit for 24 hours is reached.',
      limitSeconds,
    )
  }
  throw new DestinationError(
    'needs_action',
    `Salesforce answered ${status}: ${errorCode} ${message}`.trim().slice(0, 500),
  )
}

function errorOf(body: Buffer): { errorCode: string; message: string } {
  try {
    const [first] = JSON.parse(body.toString()) as { errorCode?: string; message?: string }[]
    return { errorCode: first?.errorCode ?? '', message: first?.message ?? '' }
  } catch {
    return { errorCode: '', message: '' }
  }
}
