import { setTimeout as delay } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { Type } from 'typebox'
import { Choice, strictObject } from '../../../api/http/commonSchemas.ts'
import {
  type Chunk,
  type DestinationContext,
  DestinationError,
  type DestinationType,
  failed,
  type Outcome,
  type OutgoingRecord,
} from './destination.ts'
import { openSalesforce, type Salesforce } from './salesforceApi.ts'

const settings = strictObject({
  instance_url: Type.String({
    maxLength: 500,
    pattern: '^https?://[^/?#]+$',
    description: 'The address of the organization: https://NAME.my.salesforce.com.',
  }),
  object: Type.Optional(Choice(['Contact', 'Lead'], { default: 'Contact' })),
  external_id_field: Type.Optional(
    Type.String({
      maxLength: 80,
      pattern: '^[A-Za-z][A-Za-z0-9_]*$',
      default: 'Email',
      description:
        'The field for upserts: an external id, or another field that Salesforce can look up.',
    }),
  ),
})
const secrets = strictObject({
  client_id: Type.String({ minLength: 1, maxLength: 500 }),
  client_secret: Type.String({ minLength: 1, maxLength: 500 }),
  refresh_token: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'For a connected app with a user’s consent. Default: client credentials.',
    }),
  ),
})

interface Settings {
  instance_url: string
  object?: 'Contact' | 'Lead'
  external_id_field?: string
}
type Context = DestinationContext<
  Settings,
  { client_id: string; client_secret: string; refresh_token?: string }
>

/** How long one step waits for a job, and when the next step checks it again. */
const waitMs = 10_000
const lookAgainSeconds = 5
/** The most additional bytes of a row in a job's results. */
const resultBytesMax = 1_024

/**
 * Contacts or leads of Salesforce, by the Bulk API 2.0. Each chunk is a job, whose three results are read
 * back, because a complete job may have failed rows. The name of a job is stored, so that a killed step
 * continues with its job:
 * https://developer.salesforce.com/docs/atlas.en-us.api_asynch.meta/api_asynch/bulk_api_2_0_ingest.htm
 */
export const salesforce: DestinationType<typeof settings, typeof secrets> = {
  settings,
  secrets,
  formats: ['crm'],
  chunkRecords: () => 5_000,
  defaultMapping: ({ object }) => ({
    Email: 'email',
    FirstName: 'first_name',
    LastName: 'last_name',
    Title: 'job_title',
    Phone: 'phone',
    ...(object === 'Lead' && { Company: 'company_name' }),
  }),
  requiredFields: (integrationSettings) => [
    externalIdOf(integrationSettings),
    'LastName',
    ...(integrationSettings.object === 'Lead' ? ['Company'] : []),
  ],
  identityField: (integrationSettings) => externalIdOf(integrationSettings),
  rate: { perSecond: 10, burst: 20 },
  removes: true,
  open(context: Context) {
    const api = openSalesforce(context)
    const object = context.settings.object ?? 'Contact'
    return {
      async check() {
        const fields = await api.fields(object)
        const key = fields.find(({ name }) => name === externalIdOf(context.settings))
        if (!key?.isLookup) {
          throw new DestinationError(
            'needs_action',
            `${object} cannot be upserted by ${externalIdOf(context.settings)}: it is neither an external id nor a lookup field.`,
          )
        }
        return `Connected to Salesforce. ${object} has ${fields.length} writable fields.`
      },
      fields: () => api.fields(object),
      send: (chunk) => send(api, context.settings, chunk),
      remove: (recipients) =>
        api.deleteRecords(recipients.flatMap(({ remoteId }) => (remoteId ? [remoteId] : []))),
    }
  },
}

const externalIdOf = ({ external_id_field }: Settings): string => external_id_field ?? 'Email'

async function send(
  api: Salesforce,
  integrationSettings: Settings,
  chunk: Chunk,
): Promise<readonly Outcome[]> {
  const keyField = externalIdOf(integrationSettings)
  const kept = chunk.state as { jobId: string } | null
  const csv = csvOf(sortedByAccount(chunk.records))
  let jobId = kept?.jobId
  if (jobId === undefined || (await api.jobState(jobId)) === 'Open') {
    // A job that was not closed may contain only some of the rows, so it is aborted.
    if (jobId !== undefined) await api.abortJob(jobId)
    jobId = await api.createJob(integrationSettings.object ?? 'Contact', keyField)
    await chunk.saveState({ jobId })
    await api.upload(jobId, csv)
    await api.closeJob(jobId)
  }
  await waitForJob(api, jobId, chunk.signal)
  // The results repeat each row, with every field quoted, after an id or a reason.
  const bytesMax = 2 * Buffer.byteLength(csv) + resultBytesMax * (chunk.records.length + 1)
  return outcomesOf(chunk.records, keyField, {
    written: rowsOf(await api.results(jobId, 'successfulResults', bytesMax)),
    refused: rowsOf(await api.results(jobId, 'failedResults', bytesMax)),
  })
}

async function waitForJob(api: Salesforce, jobId: string, signal: AbortSignal): Promise<void> {
  const until = performance.now() + waitMs
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
    const state = await api.jobState(jobId)
    // Results of a failed or aborted job contain its processed rows; the other rows are in no result.
    if (state === 'JobComplete' || state === 'Failed' || state === 'Aborted') return
    if (performance.now() + pauseMs > until || signal.aborted) {
      throw new DestinationError(
        'retry',
        `Salesforce is still processing job ${jobId}.`,
        lookAgainSeconds,
      )
    }
    await delay(pauseMs)
  }
}

/** Groups rows of one account, because Salesforce locks an account while it writes one of its rows. */
const sortedByAccount = (records: readonly OutgoingRecord[]): OutgoingRecord[] =>
  records.toSorted((a, b) => {
    const [one, other] = [a, b].map(({ values }) =>
      String(values.AccountId ?? values.Company ?? ''),
    )
    return one! < other! ? -1 : one! > other! ? 1 : a.key - b.key
  })

/** CSV with a column for each field of any record; missing fields stay unchanged at the destination. */
function csvOf(records: readonly OutgoingRecord[]): string {
  const fields = [...new Set(records.flatMap(({ values }) => Object.keys(values)))]
  const line = (cells: readonly string[]) => `${cells.map(quote).join(',')}\n`
  return [
    line(fields),
    ...records.map(({ values }) => line(fields.map((field) => String(values[field] ?? '')))),
  ].join('')
}

const quote = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

type ResultRow = Record<string, string>

const rowsOf = (csv: string): ResultRow[] =>
  parse(csv, { columns: true, skip_empty_lines: true, bom: true })

/** Finds records in the results by the upsert key, which is in every row and only once in a chunk. */
function outcomesOf(
  records: readonly OutgoingRecord[],
  keyField: string,
  { written, refused }: { written: ResultRow[]; refused: ResultRow[] },
): Outcome[] {
  const byKey = (rows: ResultRow[]) =>
    new Map(rows.map((row) => [row[keyField]?.toLowerCase(), row]))
  const [writtenBy, refusedBy] = [byKey(written), byKey(refused)]
  return records.map(({ values }) => {
    const key = String(values[keyField]).toLowerCase()
    const row = writtenBy.get(key)
    if (row)
      return { exported: true, remoteId: row.sf__Created === 'true' ? row.sf__Id : undefined }
    const error = refusedBy.get(key)?.sf__Error
    if (error !== undefined)
      return failed(isPassing(error) ? 'retry' : 'never', error.slice(0, 500))
    return failed('retry', 'Salesforce’s job ended before it processed this record.')
  })
}

/** Locks and limits are temporary; faults of the row are permanent. */
const isPassing = (error: string): boolean =>
  /^(UNABLE_TO_LOCK_ROW|SERVER_UNAVAILABLE|REQUEST_LIMIT_EXCEEDED)/.test(error)
