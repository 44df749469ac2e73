import { parse } from 'csv-parse/sync'
import { type Answered, type Asked, jsonOf, type StandIn, startStandIn } from './standIn.ts'

type State = 'Open' | 'UploadComplete' | 'InProgress' | 'JobComplete' | 'Aborted' | 'Failed'
type Row = Record<string, string>

interface Job {
  id: string
  object: string
  externalIdFieldName: string
  operation: string
  state: State
  csv: string
  looks: number
  successful: Row[]
  failed: Row[]
  unprocessed: Row[]
}

export interface Salesforce extends StandIn {
  /** By upsert key. */
  records: Map<string, Row & { Id: string }>
  deleted: string[]
  jobs: Job[]
  /** Sessions that are over. */
  endSessions(): void
}

export const salesforceApp = { client_id: 'app', client_secret: 'app-secret' }
const fields = ['Email', 'FirstName', 'LastName', 'Title', 'Phone', 'Company', 'AccountId']
/** Number of polls after which a job is complete. */
const looksUntilDone = 2

/**
 * Salesforce's OAuth, describe and Bulk API 2.0, as documented. Polls advance a job, and it is complete
 * although rows of it failed (last names "Locked" or "Bad"). Rows named "Stop" end it before the rest.
 */
export async function startSalesforce(): Promise<Salesforce> {
  const records: Salesforce['records'] = new Map()
  const jobs: Job[] = []
  const deleted: string[] = []
  let session = 0

  const standIn = await startStandIn((asked) => {
    const path = asked.url.pathname
    if (path === '/services/oauth2/token') return logIn(asked)
    if (asked.headers.authorization !== `Bearer session-${session}`)
      return problem(401, 'INVALID_SESSION_ID', 'Session expired or invalid')
    const below = path.replace(/^\/services\/data\/v[\d.]+/, '')
    if (/^\/sobjects\/(Contact|Lead)\/describe\/?$/.test(below))
      return { status: 200, body: { fields: fields.map(field) } }
    if (below.startsWith('/composite/sobjects')) {
      deleted.push(...asked.url.searchParams.get('ids')!.split(','))
      return { status: 200, body: [] }
    }
    if (below.startsWith('/jobs/ingest'))
      return ingest(asked, below.split('/').filter(Boolean).slice(2))
    return problem(404, 'NOT_FOUND', 'The requested resource does not exist')
  })

  const logIn = (asked: Asked): Answered => {
    const form = new URLSearchParams(asked.body.toString())
    const isApp =
      form.get('client_id') === salesforceApp.client_id &&
      form.get('client_secret') === salesforceApp.client_secret
    const isRefresh =
      form.get('grant_type') !== 'refresh_token' || form.get('refresh_token') === 'refresh'
    if (!isApp || !isRefresh) return { status: 400, body: { error: 'invalid_client' } }
    return {
      status: 200,
      body: { access_token: `session-${session}`, instance_url: standIn.url, token_type: 'Bearer' },
    }
  }

  const ingest = (asked: Asked, [jobId, part]: string[]): Answered => {
    if (jobId === undefined) {
      const { object, operation, externalIdFieldName } = jsonOf<Job>(asked)
      const job: Job = {
        id: `750${jobs.length}`,
        object,
        operation,
        externalIdFieldName,
        state: 'Open',
        csv: '',
        looks: 0,
        successful: [],
        failed: [],
        unprocessed: [],
      }
      jobs.push(job)
      return { status: 200, body: described(job) }
    }
    const job = jobs.find(({ id }) => id === jobId)
    if (!job) return problem(404, 'NOT_FOUND', 'The requested resource does not exist')
    if (asked.method === 'PUT' && part === 'batches') {
      if (job.state !== 'Open' || job.csv !== '')
        return problem(400, 'INVALIDJOBSTATE', 'Data was uploaded already')
      job.csv = asked.body.toString()
      return { status: 201 }
    }
    if (asked.method === 'PATCH') {
      if (job.state !== 'Open')
        return problem(400, 'INVALIDJOBSTATE', `Cannot change a job that is ${job.state}`)
      job.state = jsonOf<{ state: State }>(asked).state
      return { status: 200, body: described(job) }
    }
    if (asked.method === 'GET' && part === undefined) {
      if (job.state === 'UploadComplete') job.state = 'InProgress'
      else if (job.state === 'InProgress' && ++job.looks >= looksUntilDone) work(job)
      return { status: 200, body: described(job) }
    }
    const results = {
      successfulResults: job.successful,
      failedResults: job.failed,
      unprocessedrecords: job.unprocessed,
    }
    const rows = results[part as keyof typeof results]
    if (asked.method !== 'GET' || !rows)
      return problem(404, 'NOT_FOUND', 'The requested resource does not exist')
    return { status: 200, headers: { 'content-type': 'text/csv' }, body: csvOf(job, part!, rows) }
  }

  const work = (job: Job) => {
    const rows: Row[] = parse(job.csv, { columns: true, skip_empty_lines: true })
    const stop = rows.findIndex(({ LastName }) => LastName === 'Stop')
    for (const [index, row] of rows.entries()) {
      if (stop !== -1 && index >= stop) {
        job.unprocessed.push(row)
        continue
      }
      const error = faultOf(row)
      const key = row[job.externalIdFieldName]!.toLowerCase()
      if (error) {
        job.failed.push({ sf__Id: '', sf__Error: error, ...row })
        continue
      }
      const known = records.get(key)
      const Id = known?.Id ?? `003${records.size}`
      records.set(key, { ...known, ...row, Id })
      job.successful.push({ sf__Id: Id, sf__Created: String(!known), ...row })
    }
    job.state = stop === -1 ? 'JobComplete' : 'Failed'
  }

  return Object.assign(standIn, { records, deleted, jobs, endSessions: () => void session++ })
}

function faultOf({ LastName }: Row): string | null {
  if (LastName === '')
    return 'REQUIRED_FIELD_MISSING:Required fields are missing: [LastName]:LastName --'
  if (LastName === 'Bad') return 'FIELD_CUSTOM_VALIDATION_EXCEPTION:No such name:LastName --'
  if (LastName === 'Locked')
    return 'UNABLE_TO_LOCK_ROW:unable to obtain exclusive access to this record:--'
  return null
}

function csvOf(job: Job, part: string, rows: Row[]): string {
  const given = job.csv.split('\n')[0]!.split(',')
  const extra =
    { successfulResults: ['sf__Id', 'sf__Created'], failedResults: ['sf__Id', 'sf__Error'] }[
      part
    ] ?? []
  const columns = [...extra, ...given]
  const line = (cells: string[]) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')
  return `${[line(columns), ...rows.map((row) => line(columns.map((name) => row[name] ?? '')))].join('\n')}\n`
}

const described = ({ csv: _, successful, failed, unprocessed: __, ...job }: Job) => ({
  ...job,
  contentType: 'CSV',
  apiVersion: 62,
  contentUrl: `services/data/v62.0/jobs/ingest/${job.id}/batches`,
  numberRecordsProcessed: successful.length + failed.length,
  numberRecordsFailed: failed.length,
})

const field = (name: string) => ({
  name,
  label: name,
  createable: true,
  externalId: false,
  idLookup: name === 'Email',
})

const problem = (status: number, errorCode: string, message: string): Answered => ({
  status,
  body: [{ errorCode, message }],
})

/** Its answer once the requests of 24 hours are used up. */
export const limitExceeded = problem(403, 'REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.')
