import { createHash } from 'node:crypto'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import type { Postgres } from '../../collector/platform/postgres/pool.ts'
import { type Answering, waitFor } from './service.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client without our types would.
type Json = any

export interface Answer {
  status: number
  body: Json
}

export interface Person {
  /** Subject of the hem. */
  address: string
  /** Fields of the profile. */
  [field: string]: unknown
}

/** A running service whose exports are tried. */
export interface Exports {
  service: Answering
  postgres: Postgres
  clickhouse: ClickHouse
  env: Record<string, string>
  /** Asks with the demo's key, or with others. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
  /** The same; the body of an answer that has to be a success. */
  get(method: string, path: string, body?: unknown): Promise<Json>
  /** Stores people of a company of their own, and an audience of them that is built; their ids. */
  audienceOf(people: readonly Person[]): Promise<string>
  newIntegration(type: string, settings: object, secrets: object): Promise<string>
  /** Makes an export and runs it; both. */
  run(body: Record<string, unknown>): Promise<{ exportId: string; runId: string }>
  /** Runs the export again, with the records that failed in this run; the new run. */
  retry(ids: { exportId: string; runId: string }): Promise<{ exportId: string; runId: string }>
  /** Continues a parked run now. */
  resume(ids: { runId: string }): Promise<void>
  /** The run, as soon as it has ended, or is as `isReached` says. */
  ended(
    ids: { exportId: string; runId: string },
    isReached?: (run: Json) => boolean,
    timeoutMs?: number,
  ): Promise<Json>
  /** Records charged for audiences, less what was refunded. */
  charged(): Promise<number>
  close(): Promise<void>
}

export const hemOf = (address: string): string => createHash('sha256').update(address).digest('hex')

let companies = 0

/** The same for a service that runs already. */
export function exportsOf(
  service: Answering,
  postgres: Postgres,
  clickhouse: ClickHouse,
  env: Record<string, string>,
): Exports {
  const { api_key, api_secret, project_id } = service.demo
  const own = { 'x-api-key': api_key, 'x-api-secret': api_secret }
  const ask: Exports['ask'] = async (method, path, body, headers = own) => {
    const answer = await fetch(`${service.url}/api/v1/${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }
  const get: Exports['get'] = async (method, path, body) => {
    const answer = await ask(method, path, body)
    if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const audienceBy = async (name: string, include: object): Promise<string> => {
    const { audience } = await get('POST', `audiences?project_id=${project_id}`, {
      name,
      definition: { entity: 'people', include },
    })
    await waitFor(
      'the audience',
      async () => {
        const { status, error } = await get('GET', `audiences/${audience.id}/status`)
        if (status === 'failed') throw new Error(error)
        return status === 'completed'
      },
      50_000,
    )
    return audience.id
  }
  const exports: Exports = {
    service,
    postgres,
    clickhouse,
    env,
    ask,
    get,
    async audienceOf(people) {
      const company_name = `Company ${companies++} ${crypto.randomUUID()}`
      const rows = people.map(({ address, ...fields }) =>
        JSON.stringify({ hem: hemOf(address), company_name, ...fields }),
      )
      await clickhouse.feed(
        { sql: 'INSERT INTO profiles FORMAT JSONEachRow', params: {} },
        Buffer.from(`${rows.join('\n')}\n`),
      )
      return audienceBy(company_name, {
        profile: { field: 'company_name', op: 'eq', value: company_name },
      })
    },
    async newIntegration(type, settings, secrets) {
      const body = { project_id, type, name: `To ${type}`, settings, secrets }
      return (await get('POST', 'integrations', body)).integration.id
    },
    async run(body) {
      const { export: created } = await get('POST', 'exports', {
        project_id,
        name: 'Export',
        ...body,
      })
      const { run } = await get('POST', `exports/${created.id}/runs`)
      return { exportId: created.id, runId: run.run_id }
    },
    async retry({ exportId, runId }) {
      const { run } = await get('POST', `exports/${exportId}/runs/${runId}/retry`)
      return { exportId, runId: run.run_id }
    },
    async resume({ runId }) {
      await postgres.query('UPDATE export_runs SET resumes_at = now() WHERE run_id = $1', [runId])
      await postgres.query("SELECT pg_notify('footfall_jobs', 'exports.runs')")
    },
    async ended(
      { exportId, runId },
      isReached = ({ ended_at }) => ended_at !== null,
      timeoutMs = 50_000,
    ) {
      let last: Json = null
      return waitFor(
        'the run',
        async () => {
          last = (await get('GET', `exports/${exportId}/runs/${runId}`)).run
          const { records_exported, records_failed, records_duplicated } = last
          const sum = records_exported + records_failed + records_duplicated
          // Omitted while the free answers are used up.
          if (last.records_total !== undefined && last.records_total !== sum)
            throw new Error(`the counters do not add up: ${JSON.stringify(last)}`)
          return isReached(last) ? last : null
        },
        timeoutMs,
      ).catch((error) => {
        throw new Error(`${error.message}: ${JSON.stringify(last)}\n${service.output()}`)
      })
    },
    async charged() {
      const { rows } = await postgres.query<{ records: number }>(
        "SELECT coalesce(sum(records), 0)::int AS records FROM ledger WHERE meter = 'audience'",
      )
      return rows[0]!.records
    },
    async close() {
      await Promise.all([postgres.end(), clickhouse.close()])
      await service.stop()
    },
  }
  return exports
}
