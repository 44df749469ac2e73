import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { StartError } from '../../platform/startError.ts'
import { chooseColumns, type Mapping } from './mapping.ts'
import { recordsOf } from './records.ts'
import type { Format } from './source.ts'
import type { Shape } from './statements.ts'
import type { Target } from './targets.ts'

const sampleRecords = 1_000

export interface ShapeOptions {
  readonly target: Target
  readonly mapping: Mapping
  readonly ignoreUnknown: boolean
  readonly params: Shape['params']
}

/**
 * Columns of a file, from its header or the beginning of its bytes. Throws StartError for unknown columns,
 * and for a file without the columns that every row needs.
 */
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
        ? await parquetColumns(clickhouse, bytes)
        : jsonKeys(bytes)
  if (new Set(seen).size < seen.length) throw new StartError('two columns have the same name')
  // A line of JSON leaves out what it does not have, so all may come that is known.
  const mapped = new Set(mapping.values())
  const possible = [...mapping.keys(), ...fields.filter((field) => !mapped.has(field))]
  const present = format === 'ndjson' ? [...new Set([...seen, ...possible])] : seen
  const chosen = chooseColumns(present, { mapping, fields, ignoreUnknown })
  const lacking = target.required.find(
    (names) => !chosen.some(({ field }) => names.includes(field)),
  )
  if (lacking) throw new StartError(`no column maps to ${lacking.join(' or ')}`)
  // Columns of CSV have no names but their places; of other formats only those that are loaded are read.
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

/** A Parquet file ends with what its columns are, the length of that, and four signs. */
async function parquetColumns(clickhouse: ClickHouse, bytes: Buffer): Promise<string[]> {
  const length =
    bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'PAR1'
      ? 0
      : bytes.readUInt32LE(bytes.length - 8)
  const from = bytes.length - 8 - length
  if (length === 0 || from < 4) throw new StartError('not a complete Parquet file')
  const columns = await clickhouse.rows<{ name: string }>({
    sql: 'DESCRIBE format(Parquet, base64Decode({footer:String}))',
    params: {
      footer: Buffer.concat([bytes.subarray(0, 4), bytes.subarray(from)]).toString('base64'),
    },
  })
  return columns.map(({ name }) => name)
}

function jsonKeys(bytes: Buffer): string[] {
  const keys = new Set<string>()
  let count = 0
  for (const { start, end } of recordsOf(bytes, 'ndjson')) {
    if (++count > sampleRecords) break
    try {
      for (const key of Object.keys(JSON.parse(bytes.toString('utf8', start, end)))) keys.add(key)
    } catch {
      // It will be among the rejected rows.
    }
  }
  return [...keys]
}
