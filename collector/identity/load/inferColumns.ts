import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { StartError } from '../../platform/startError.ts'
import { chooseColumns, type Mapping } from './mapping.ts'
import { recordsOf } from './records.ts'
import type { Format } from './source.ts'
import type { Shape } from './statements.ts'
import type { Target } from './targets.ts'

const sampleRecords = 1_000

interface ShapeOptions {
  readonly target: Target
  readonly mapping: Mapping
  readonly ignoreUnknown: boolean
  readonly params: Shape['params']
}

/** The columns of a file, from its header or first bytes. Throws StartError. */
export async function inferColumns(
  clickhouse: ClickHouse,
  { format, header, bytes }: { format: Format; header: Buffer | null; bytes: Buffer },
  { target, mapping, ignoreUnknown, params }: ShapeOptions,
): Promise<Shape> {
  const { fields } = target
  const seen =
    format === 'csv'
      ? await csvColumns(clickhouse, header!)
      : format === 'parquet'
        ? (await parquetColumns(clickhouse, bytes)).map(({ name }) => name)
        : jsonKeys(bytes)
  if (new Set(seen).size < seen.length) throw new StartError('two columns have the same name')
  // Lines of JSON may omit members, so every known column may appear.
  const mapped = new Set(mapping.values())
  const possible = [...mapping.keys(), ...fields.filter((field) => !mapped.has(field))]
  const present = format === 'ndjson' ? [...new Set([...seen, ...possible])] : seen
  const chosen = chooseColumns(present, { mapping, fields, ignoreUnknown })
  const lacking = target.required.find(
    (names) => !chosen.some(({ field }) => names.includes(field)),
  )
  if (lacking) throw new StartError(`no column maps to ${lacking.join(' or ')}`)
  // CSV columns are identified by position, so all are read; of other formats only loaded columns are read.
  const columns = format === 'csv' ? present : chosen.map(({ column }) => column)
  return { target, format, columns, chosen, params }
}

async function csvColumns(clickhouse: ClickHouse, header: Buffer): Promise<string[]> {
  const [row] = await clickhouse.rows<Record<string, string | null>>({
    sql: `SELECT * FROM format(CSV, {header:String})
          SETTINGS input_format_csv_use_best_effort_in_schema_inference = 0`,
    params: { header: header.toString() },
  })
  return Object.values(row ?? {}).map((name) => name ?? '')
}

/** A Parquet file ends with its metadata, the metadata's length, and four magic bytes. */
export async function parquetColumns(
  clickhouse: ClickHouse,
  bytes: Buffer,
): Promise<{ name: string; type: string }[]> {
  const length =
    bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'PAR1'
      ? 0
      : bytes.readUInt32LE(bytes.length - 8)
  const from = bytes.length - 8 - length
  if (length === 0 || from < 4) throw new StartError('not a complete Parquet file')
  return clickhouse.rows<{ name: string; type: string }>({
    sql: 'DESCRIBE format(Parquet, base64Decode({footer:String}))',
    params: {
      footer: Buffer.concat([bytes.subarray(0, 4), bytes.subarray(from)]).toString('base64'),
    },
  })
}

function jsonKeys(bytes: Buffer): string[] {
  const keys = new Set<string>()
  let count = 0
  for (const { start, end } of recordsOf(bytes, 'ndjson')) {
    if (++count > sampleRecords) break
    try {
      for (const key of Object.keys(JSON.parse(bytes.toString('utf8', start, end)))) keys.add(key)
    } catch {
      // The row will be rejected.
    }
  }
  return [...keys]
}
