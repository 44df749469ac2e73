import {
  type Field,
  fieldNamed,
  hem,
  isProfileField,
  isSessionField,
} from '../../../schemas/fields.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import type { EventsPlan } from '../query/page/eventsPlan.ts'
import { eventsQuery } from '../query/page/eventsQuery.ts'
import { nameProjects, partsOfProjects } from '../query/projects.ts'

/** The estimated scan of a query, according to ClickHouse's index; a page that fills early needs less. */
interface ScanEstimate {
  rows: number
  /** Uncompressed bytes of the needed columns, by their average size in the table. */
  bytes: number
  /** Number of parts, and of granules of 8,192 rows. */
  parts: number
  marks: number
}

/** Estimates the scan of a page of events with ClickHouse's index alone; each shard reports its own part. */
export async function estimateScan(
  queryExecutor: QueryExecutor,
  plan: EventsPlan,
): Promise<ScanEstimate> {
  const named = await nameProjects(queryExecutor, plan)
  const query = eventsQuery({
    ...named,
    columns: columnsOfEvents(plan),
    filters: plan.filters.filter(({ field }) => !field || !isSessionField(field)),
    distinct: plan.distinct.filter((field) => !isSessionField(field)),
    isForEstimate: true,
  })
  const scans = await Promise.all(
    partsOfProjects(queryExecutor.clickhouse, named.scope).map(({ shard, table }) =>
      scansOf(queryExecutor.through(shard), {
        ...query,
        params: { ...query.params, events: table },
      }),
    ),
  )
  const sum = (member: keyof ScanEstimate) =>
    scans.flat().reduce((all, scan) => all + scan[member], 0)
  return {
    rows: sum('rows'),
    bytes: Math.round(sum('bytes')),
    parts: sum('parts'),
    marks: sum('marks'),
  }
}

/**
 * Excludes fields of sessions, whose table only the first shard has. Also excludes profile fields, because the tables of
 * events contain only each event's identity, and these fields take long to analyse.
 */
function columnsOfEvents({ columns }: EventsPlan): readonly Field[] {
  const ofEvents = columns.filter((field) => !isProfileField(field) && !isSessionField(field))
  if (columns.some(isProfileField)) return [...new Set([...ofEvents, hem])]
  return ofEvents.length > 0 ? ofEvents : [fieldNamed('event_id')!]
}

async function scansOf(queryExecutor: QueryExecutor, query: Query): Promise<ScanEstimate[]> {
  const [scans, readings] = await Promise.all([
    queryExecutor.rows<Scan>({ ...query, sql: `EXPLAIN ESTIMATE ${query.sql}` }),
    readingsOf(queryExecutor, query),
  ])
  return Promise.all(
    scans.map(async ({ table, ...scan }) => {
      const columns = [...(readings.get(table) ?? [])]
      const bytes =
        scan.rows === 0 ? 0 : scan.rows * (await bytesPerRow(queryExecutor, table, columns))
      return { ...scan, bytes }
    }),
  )
}

interface Scan {
  table: string
  rows: number
  parts: number
  marks: number
}

interface PlanNode {
  'Node Type': string
  /** The table of a reading node: `database.table`. */
  Description?: string
  Header?: { Name: string }[]
  Plans?: PlanNode[]
}

/** The columns of each table that a query reads; without optimization ClickHouse lists all. */
async function readingsOf(
  queryExecutor: QueryExecutor,
  { sql, params }: Query,
): Promise<Map<string, Set<string>>> {
  const lines = await queryExecutor.rows<{ explain: string }>({
    sql: `EXPLAIN json = 1, header = 1, description = 1, optimize = 0 ${sql}`,
    params,
  })
  const [{ Plan }] = JSON.parse(lines.map(({ explain }) => explain).join('\n')) as [
    { Plan: PlanNode },
  ]
  const readings = new Map<string, Set<string>>()
  const visit = (node: PlanNode) => {
    if (node['Node Type'] === 'ReadFromMergeTree') {
      const table = node.Description!.split('.').at(-1)!
      const columns = readings.get(table) ?? new Set()
      for (const { Name } of node.Header ?? []) columns.add(Name)
      readings.set(table, columns)
    }
    node.Plans?.forEach(visit)
  }
  visit(Plan)
  return readings
}

/** The average size of these columns. Small parts report none, so each column counts equally. */
async function bytesPerRow(
  queryExecutor: QueryExecutor,
  table: string,
  columns: string[],
): Promise<number> {
  const parts = 'active AND database = currentDatabase() AND table = {table:String}'
  const [size] = await queryExecutor.rows<{ bytes: number }>({
    sql: `WITH
            (SELECT sum(column_data_uncompressed_bytes) FROM system.parts_columns
             WHERE ${parts} AND part_type = 'Wide' AND column IN {columns:Array(String)}) AS wide_bytes,
            (SELECT count() FROM system.columns
             WHERE database = currentDatabase() AND table = {table:String} AND default_kind != 'ALIAS') AS all_columns
          SELECT if(sumIf(rows, part_type = 'Wide') > 0,
            wide_bytes / sumIf(rows, part_type = 'Wide'),
            sum(data_uncompressed_bytes) / sum(rows) * length({columns:Array(String)}) / all_columns) AS bytes
          FROM system.parts WHERE ${parts}`,
    params: { table, columns },
  })
  return size!.bytes
}
