import type { Source } from '../../../identity/load/source.ts'
import { StartError } from '../../../platform/startError.ts'
import type { ProductRecord } from './product.ts'

/** Sessions and events with data that are in memory, because events of a dump refer to them. */
const heldMax = 2_000_000
/** PostgreSQL writes a row as one line; no row of Umami is longer. */
const lineBytesMax = 16 * 1024 * 1024

const copyPattern = /^COPY (?:"?public"?\.)?"?(\w+)"? \(([^)]*)\) FROM stdin;$/
const sessionColumns = [
  'hostname',
  'browser',
  'os',
  'device',
  'screen',
  'language',
  'country',
  'region',
  'subdivision1',
  'city',
]

/**
 * Reads a plain dump of PostgreSQL as lines of JSON. They are the rows of `website_event` of a site. Each has the
 * columns of its `session`, and its `event_data`. pg_dump writes these tables before `website_event`, in alphabetical
 * order.
 */
export const withEventsOfDump = (source: Source, site: string): Source => ({
  ...source,
  async *read() {
    const join = createJoin(source.name, site)
    let rest = Buffer.alloc(0)
    for await (const part of source.read()) {
      const bytes = Buffer.concat([rest, part])
      const end = bytes.lastIndexOf(0x0a) + 1
      const found = linesOf(bytes.subarray(0, end)).map(join.add).join('')
      rest = bytes.subarray(end)
      if (rest.length > lineBytesMax)
        throw new StartError(`${source.name}: a line is longer than ${lineBytesMax >> 20} MB`)
      if (found !== '') yield Buffer.from(found)
    }
    const last = join.add(rest.toString())
    if (last !== '') yield Buffer.from(last)
    if (!join.hasEvents())
      throw new StartError(
        `${source.name} has no "COPY public.website_event … FROM stdin;". Write it with pg_dump --format=plain`,
      )
  },
})

const linesOf = (bytes: Buffer): string[] => bytes.toString().split('\n').slice(0, -1)

function createJoin(file: string, site: string) {
  const sessions = new Map<string, string>()
  const dataOf = new Map<string, ProductRecord>()
  let section: { table: string; columns: readonly string[] } | null = null
  let hasEvents = false
  const hold = <Value>(held: Map<string, Value>, key: string, value: Value) => {
    if (!held.has(key) && held.size >= heldMax)
      throw new StartError(
        `${file}: the site has more than ${heldMax.toLocaleString('en')} sessions. Export website_event as CSV, month by month`,
      )
    held.set(key, value)
  }
  return {
    hasEvents: () => hasEvents,
    /** Returns the line of JSON of an event, and nothing for other lines. */
    add(line: string): string {
      if (section === null) {
        const [, table, columns] = line.startsWith('COPY ') ? (copyPattern.exec(line) ?? []) : []
        if (!table) return ''
        section = { table, columns: columns!.split(', ').map((name) => name.replaceAll('"', '')) }
        hasEvents ||= table === 'website_event'
        return ''
      }
      if (line === '\\.') {
        section = null
        return ''
      }
      const { table, columns } = section
      if (table !== 'session' && table !== 'event_data' && table !== 'website_event') return ''
      const row = rowOf(columns, line)
      if (row.website_id !== site) return ''
      if (table === 'session') {
        const kept = sessionColumns.map((column) => row[column] ?? null)
        hold(sessions, String(row.session_id), JSON.stringify(kept))
        return ''
      }
      if (table === 'event_data') {
        const id = String(row.website_event_id)
        const data = dataOf.get(id) ?? {}
        data[String(row.data_key)] = eventValue(row)
        hold(dataOf, id, data)
        return ''
      }
      const session: unknown[] = JSON.parse(sessions.get(String(row.session_id)) ?? '[]')
      const known = Object.fromEntries(sessionColumns.map((name, at) => [name, session[at]]))
      const event_data = dataOf.get(String(row.event_id))
      return `${JSON.stringify({ ...known, ...withoutNulls(row), event_data })}\n`
    },
  }
}

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** Decodes a line of COPY's text format; `\N` is null. */
function rowOf(columns: readonly string[], line: string): Record<string, string | null> {
  const row: Record<string, string | null> = {}
  for (const [index, text] of line.split('\t').entries()) {
    const column = columns[index]
    if (column === undefined) break
    row[column] =
      text === '\\N' ? null : text.replace(/\\(.)/g, (_, mark: string) => escapes[mark] ?? mark)
  }
  return row
}

const withoutNulls = (row: Record<string, string | null>) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))

/** The value of a row of event_data. Umami's types are 1 text, 2 number, 3 boolean, 4 date and 5 array. */
function eventValue(row: Record<string, string | null>): unknown {
  const { data_type, string_value, number_value, date_value } = row
  if (data_type === '2' && number_value !== null) return Number(number_value)
  if (data_type === '3') return string_value === 'true'
  return string_value ?? date_value ?? (number_value == null ? null : Number(number_value))
}
