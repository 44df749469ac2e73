import { eventFields } from '../../../schemas/fields/event.ts'
import type { Reader } from '../../access/reader.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import type { Subject } from './subject.ts'

/**
 * All that an organization's sites have observed of a subject, as JSON lines: `{ "kind", "data" }`, kind one of
 * link, event and rejected_event. What the operator's graph knows of them is not the organization's to hand out.
 */
export async function* exportSubject(
  reader: Reader,
  organizationId: string,
  subject: Subject,
): AsyncGenerator<Buffer> {
  for (const [kind, query] of Object.entries(queriesOf(organizationId, subject))) {
    const { body, rows } = await reader.stream(query, {
      row: `{"kind":"${kind}","data":\${data:Raw}}`,
      as: 'JSONEachRow',
    })
    if (rows === 0) body.resume()
    else yield* body
  }
}

function queriesOf(organizationId: string, { hem, cookieId }: Subject): Record<string, Query> {
  const ours = 'organization_id = {organization:UUID}'
  const isTheirs = hem === undefined ? 'cookie_id = {cookie:UUID}' : 'hem = {hem:String}'
  const cookies =
    hem === undefined
      ? isTheirs
      : `cookie_id IN (SELECT cookie_id FROM identity_links WHERE ${ours} AND ${isTheirs})`
  const select = (columns: readonly string[], from: string): Query => ({
    sql: `SELECT formatRowNoNewline('JSONEachRow', ${columns.join(', ')}) AS data FROM ${from}
          SETTINGS date_time_output_format = 'iso', output_format_json_quote_64bit_integers = 0,
            output_format_json_escape_forward_slashes = 0`,
    params: {
      organization: organizationId,
      ...(hem === undefined ? { cookie: cookieId } : { hem }),
    },
  })
  return {
    link: select(
      ['cookie_id', 'hem', 'source', 'confidence', 'pixel_id', 'observed_at'],
      `identity_links FINAL WHERE ${ours} AND ${isTheirs}`,
    ),
    event: select(
      eventFields.map(({ name }) => name),
      `events WHERE ${ours} AND ${cookies} ORDER BY ts_millis, event_id`,
    ),
    rejected_event: select(
      ['received_at', 'project_id', 'pixel_id', 'event_id', 'event_type', 'path', 'message', 'event'],
      `rejected_events WHERE ${ours} AND ${cookies} ORDER BY received_at`,
    ),
  }
}
