import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { buffer, text } from 'node:stream/consumers'
import zlib from 'node:zlib'
import { detachReceived } from '../nodeInternals/detachReceived.ts'
import { ClickHouseRefused } from '../storeErrors.ts'
import { traceHeaders } from '../traceContext.ts'
import type {
  ListQuery,
  NamedFormat,
  OutputFormat,
  Query,
  RawInsert,
  ResultStream,
  Statement,
} from './client.ts'

const agents = {
  'http:': detachReceived(new HttpAgent({ keepAlive: true, maxSockets: 64 })),
  'https:': detachReceived(new HttpsAgent({ keepAlive: true, maxSockets: 64 })),
}

/**
 * Settings of queries and commands. Format of rows: ISO times, plain numbers for Int64 (all our values fit a double), empty text
 * for null in CSV.
 */
export const commonSettings = {
  date_time_output_format: 'iso',
  output_format_json_quote_64bit_integers: 0,
  output_format_json_escape_forward_slashes: 0,
  format_csv_null_representation: '',
  // Derives further comparisons from chains of AND. Our statements need none, and it takes up to half of their analysis.
  optimize_and_compare_chain: 0,
} as const

/**
 * ClickHouse keeps responses up to this size in memory until they are complete. It writes larger ones to a
 * file, which takes twice as long.
 */
const answerBytesInMemory = 16 * 1024 * 1024

/**
 * Every Parquet reader supports Snappy. Arrow has no compression of its own because the HTTP response is
 * compressed.
 */
const compressionSettings: Partial<Record<NamedFormat, Record<string, string>>> = {
  Parquet: { output_format_parquet_compression_method: 'snappy' },
  ArrowStream: { output_format_arrow_compression_method: 'none' },
}

function formatSettings(format: OutputFormat): Record<string, string> {
  if (typeof format === 'string') return { default_format: format, ...compressionSettings[format] }
  const isArray = format.as === 'JSONArray'
  return {
    default_format: 'Template',
    format_template_row_format: format.row,
    format_template_rows_between_delimiter: isArray ? ',\n' : '\n',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: ClickHouse's own placeholder
    format_template_resultset_format: isArray ? '[${data}]\n' : '${data}\n',
  }
}

/**
 * Runs a query and passes its bytes on as they arrive. It does not use the driver, whose overhead is a third
 * of a page's time. The response starts when ClickHouse has all of it, so the row count in its header is
 * final. The query ends when the client disconnects.
 */
export async function openStream(
  url: string,
  database: string,
  query: Statement | ListQuery,
  format: OutputFormat,
  {
    signal,
    settings: more,
  }: {
    signal?: AbortSignal | undefined
    settings?: Readonly<Record<string, string | number>> | undefined
  } = {},
): Promise<ResultStream> {
  const lists = 'lists' in query ? query.lists : {}
  const settings = {
    ...formatSettings(format),
    buffer_size: answerBytesInMemory,
    readonly: 2,
    cancel_http_readonly_queries_on_client_close: 1,
    ...commonSettings,
    ...listSettings(lists),
    ...more,
  }
  const { params, ...sent } = await bodyOf(query, lists)
  const { body, summary } = await post(url, database, params, settings, sent, signal)
  return { body, rows: Number(summary.result_rows ?? 0) }
}

/**
 * Settings that accept input from any source: null becomes the column's default, and text columns accept
 * numbers and booleans.
 */
const inputSettings = {
  input_format_null_as_default: 1,
  input_format_json_read_numbers_as_strings: 1,
  input_format_json_read_bools_as_strings: 1,
  // Half of a surrogate pair stays as its six-character escape.
  input_format_json_throw_on_bad_escape_sequence: 0,
}

/**
 * Runs an INSERT that ends with `FORMAT …` over these bytes. The body starts with the statement, which may be
 * too long for a URL.
 */
export async function insertRaw(
  url: string,
  database: string,
  { sql, params }: Query,
  bytes: Buffer,
  settings: Readonly<Record<string, number | string>>,
): Promise<RawInsert> {
  const parts = [`${sql}\n`, bytes]
  const { body, summary } = await post(
    url,
    database,
    params,
    { ...inputSettings, ...settings },
    { parts },
  )
  await text(body)
  return { readRows: Number(summary.read_rows), writtenRows: Number(summary.written_rows) }
}

/**
 * Runs a query and returns its rows in the Native format, compressed by zstd: the exact values, in the fewest bytes.
 * Throws if a proxy removes the compression.
 */
export async function exportRows(
  url: string,
  database: string,
  { sql, params }: Query,
): Promise<ResultStream> {
  const settings = {
    default_format: 'Native',
    enable_http_compression: 1,
    http_zlib_compression_level: 1,
    buffer_size: answerBytesInMemory,
    readonly: 2,
    cancel_http_readonly_queries_on_client_close: 1,
    max_threads: 1,
    // A projection has no offsets of rows: a filter by them would find nothing in a part of one row.
    optimize_use_projections: 0,
  }
  const sent = { parts: [sql], headers: { 'accept-encoding': 'zstd' } }
  const { body, summary } = await post(url, database, params, settings, sent)
  const encoding = body.headers['content-encoding']
  const rows = Number(summary.result_rows ?? 0)
  // ClickHouse does not compress an empty answer.
  if (encoding !== 'zstd' && rows > 0) {
    body.destroy()
    throw new Error(
      `ClickHouse answered with the encoding ${encoding ?? 'none'} instead of zstd: a proxy must not change it`,
    )
  }
  return { body, rows }
}

/** Runs an INSERT that ends with FORMAT Native over the bytes of `exportRows`. Returns the number of inserted rows. */
export async function importRows(
  url: string,
  database: string,
  { sql, params, settings }: Query,
  bytes: Buffer,
): Promise<number> {
  // The body is compressed, so the statement is a parameter.
  const sent = { parts: [bytes], headers: { 'content-encoding': 'zstd' } }
  const { body, summary } = await post(url, database, params, { ...settings, query: sql }, sent)
  await text(body)
  return Number(summary.written_rows)
}

/** The parts of a request body, in order. */
interface Sent {
  parts: readonly (string | Buffer)[]
  headers?: Readonly<Record<string, string>>
}

/** Sends a statement, and resolves when ClickHouse has completed it. Throws ClickHouseRefused. */
async function post(
  url: string,
  database: string,
  params: Query['params'],
  settings: Readonly<Record<string, unknown>>,
  { parts, headers }: Sent,
  signal?: AbortSignal,
): Promise<{ body: IncomingMessage; summary: Readonly<Record<string, string>> }> {
  const address = new URL(url)
  const search = new URLSearchParams({ database, wait_end_of_query: '1' })
  for (const [name, value] of Object.entries(settings)) search.set(name, String(value))
  for (const [name, value] of Object.entries(params)) search.set(`param_${name}`, boundText(value))

  const secure = address.protocol === 'https:'
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = (secure ? httpsRequest : httpRequest)(
      {
        method: 'POST',
        protocol: address.protocol,
        hostname: address.hostname,
        port: address.port,
        path: `${address.pathname}?${search}`,
        auth: `${decodeURIComponent(address.username) || 'default'}:${decodeURIComponent(address.password)}`,
        headers: {
          'content-length': parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0),
          ...headers,
          ...traceHeaders(),
        },
        agent: agents[secure ? 'https:' : 'http:'],
        ...(signal && { signal }),
      },
      resolve,
    )
    request.once('error', reject)
    for (const part of parts.slice(0, -1)) request.write(part)
    request.end(parts.at(-1))
  })
  if (answer.statusCode !== 200) {
    const bytes = await buffer(answer)
    const isCompressed = answer.headers['content-encoding'] === 'zstd'
    const message = String(isCompressed ? zlib.zstdDecompressSync(bytes) : bytes)
    throw new ClickHouseRefused(message, Number(answer.headers['x-clickhouse-exception-code'] ?? 0))
  }
  return {
    body: answer,
    summary: JSON.parse(String(answer.headers['x-clickhouse-summary'] ?? '{}')),
  }
}

/** Returns the settings that declare each list as a table with one text column. */
const listSettings = (lists: ListQuery['lists']): Record<string, string> =>
  Object.fromEntries(
    Object.keys(lists).flatMap((name) => [
      [`${name}_structure`, 'value String'],
      [`${name}_format`, 'TSV'],
    ]),
  )

/** Above this length, parameters are sent in the body, because servers and proxies limit the URL. */
const paramCharsMax = 4096

/**
 * Returns the statement alone, or a form with the parameters that are too long for the URL. `params` are
 * those for the URL.
 */
async function bodyOf(
  { sql, params = {} }: Statement,
  lists: ListQuery['lists'],
): Promise<Sent & Pick<Query, 'params'>> {
  const values = Object.entries(params).map(([name, value]) => [name, boundText(value)] as const)
  const areLong = values.reduce((sum, [, text]) => sum + text.length, 0) > paramCharsMax
  if (!areLong && Object.keys(lists).length === 0) return { parts: [sql], params }
  const form = new FormData()
  form.set('query', sql)
  if (areLong) for (const [name, text] of values) form.set(`param_${name}`, text)
  for (const [name, list] of Object.entries(lists))
    form.set(name, new Blob([list.map(escaped).join('\n')]))
  const encoded = new Response(form)
  return {
    parts: [Buffer.from(await encoded.arrayBuffer())],
    headers: { 'content-type': encoded.headers.get('content-type')! },
    params: areLong ? {} : params,
  }
}

/** Encodes a bound value for ClickHouse: a TSV field, or an array with quoted texts. */
function boundText(value: unknown): string {
  if (value === null) return '\\N'
  if (!Array.isArray(value)) return escaped(String(value))
  return `[${value.map((item) => (typeof item === 'string' ? `'${escaped(item).replaceAll("'", "\\'")}'` : String(item))).join(',')}]`
}

const escaped = (value: string): string =>
  value.replace(/[\\\t\n\r\0\b\f]/g, (character) => escapes[character] ?? character)

const escapes: Record<string, string> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
}
