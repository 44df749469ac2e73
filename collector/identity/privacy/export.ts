import { eventFields } from '../../../schemas/fields/event.ts'
import { fieldSql, hemAsNumber } from '../../../schemas/fields.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { Subject } from './subject.ts'

/**
 * Returns all data that an organization's sites recorded of a subject, and the organization's lists that
 * contain it. They are JSON lines: `{ "kind", "data" }`, kind one of link, event, rejected_event and
 * list_member. The organization must not export data of the operator's graph.
 */
export async function* exportSubject(
  { queryExecutor, postgres }: { queryExecutor: QueryExecutor; postgres: Queryable },
  organizationId: string,
  subject: Subject,
): AsyncGenerator<Buffer> {
  for (const [kind, query] of Object.entries(queriesOf(organizationId, subject))) {
    const { body, rows } = await queryExecutor.stream(query, {
      row: `{"kind":"${kind}","data":\${data:Raw}}`,
      as: 'JSONEachRow',
    })
    if (rows === 0) body.resume()
    else yield* body
  }
  for (const data of await readListMemberships(
    { queryExecutor, postgres },
    organizationId,
    subject,
  ))
    yield Buffer.from(`${JSON.stringify({ kind: 'list_member', data })}\n`)
}

export async function countBrowsers(
  queryExecutor: QueryExecutor,
  organizationId: string,
  subject: Subject,
): Promise<number> {
  if (subject.hem === undefined) return 1
  const { isTheirs, params } = conditionsOf(organizationId, subject)
  const [found] = await queryExecutor.rows<{ browsers: number }>({
    sql: `SELECT toFloat64(uniqExact(cookie_id)) AS browsers FROM identity_links WHERE ${ours} AND ${isTheirs}`,
    params,
  })
  return found!.browsers
}

interface Membership {
  readonly list_id: string
  readonly project_id: string
  readonly name: string
  /** The type of the list's items: an address is in `emails` or `hems`, a browser in `cookies`. */
  readonly kind: string
  readonly import_id: string
  readonly added_at: Date
}

async function readListMemberships(
  { queryExecutor, postgres }: { queryExecutor: QueryExecutor; postgres: Queryable },
  organizationId: string,
  subject: Subject,
): Promise<Membership[]> {
  const { cookies, params } = conditionsOf(organizationId, subject)
  const isPerson =
    subject.hem === undefined ? 'false' : `hem_number = ${hemAsNumber('{hem:String}')}`
  const found = await queryExecutor.rows<{ import_id: string }>({
    sql: `SELECT DISTINCT import_id FROM list_members
          WHERE ${ours} AND (${isPerson} OR hem_number = 0 AND company_domain = '' AND ${cookies})`,
    params,
  })
  if (found.length === 0) return []
  const { rows } = await postgres.query<Membership>(
    `SELECT list_id, project_id, lists.name, kind, import_id, completed_at AS added_at
     FROM list_imports JOIN lists USING (list_id) JOIN projects USING (project_id)
     WHERE organization_id = $1 AND import_id = ANY($2) AND list_imports.status = 'completed'
     ORDER BY completed_at, import_id`,
    [organizationId, found.map(({ import_id }) => import_id)],
  )
  return rows
}

const ours = 'organization_id = {organization:UUID}'

/** Returns conditions for the rows of a subject: by the subject itself, and by its browsers. */
function conditionsOf(organizationId: string, { hem, cookieId }: Subject) {
  const isTheirs = hem === undefined ? 'cookie_id = {cookie:UUID}' : 'hem = {hem:String}'
  return {
    isTheirs,
    cookies:
      hem === undefined
        ? isTheirs
        : `cookie_id IN (SELECT cookie_id FROM identity_links WHERE ${ours} AND ${isTheirs})`,
    params: {
      organization: organizationId,
      ...(hem === undefined ? { cookie: cookieId } : { hem }),
    },
  }
}

function queriesOf(organizationId: string, subject: Subject): Record<string, Query> {
  const { isTheirs, cookies, params } = conditionsOf(organizationId, subject)
  const select = (columns: readonly string[], from: string): Query => ({
    sql: `SELECT formatRowNoNewline('JSONEachRow', ${columns.join(', ')}) AS data FROM ${from}
          SETTINGS date_time_output_format = 'iso', output_format_json_quote_64bit_integers = 0,
            output_format_json_escape_forward_slashes = 0`,
    params,
  })
  return {
    link: select(
      ['cookie_id', 'hem', 'source', 'confidence', 'pixel_id', 'observed_at'],
      `identity_links FINAL WHERE ${ours} AND ${isTheirs}`,
    ),
    event: select(
      eventFields.map((field) => `${fieldSql(field)} AS ${field.name}`),
      `events WHERE ${ours} AND ${cookies} ORDER BY ts_millis, event_id`,
    ),
    rejected_event: select(
      [
        'received_at',
        'project_id',
        'pixel_id',
        'event_id',
        'event_type',
        'path',
        'message',
        'event',
      ],
      `rejected_events WHERE ${ours} AND ${cookies} ORDER BY received_at`,
    ),
  }
}
