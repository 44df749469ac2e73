/**
 * Sets of visitors as bitmaps of their numbers, which merge exactly and fast. Visitors without a number are
 * in no counted day, so their count is added.
 */

import type { Window } from '../../events/query/window/window.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { deleteRows } from '../../platform/clickhouse/deleteRows.ts'
import { zeroUuid } from './runs.ts'

/**
 * Returns SQL of a join that adds `number` to rows; 0 for a visitor without one. `cookies` selects the ids
 * that may occur.
 */
export const joinNumbers = (
  cookie: string,
  project: string,
  cookies: string,
): string => `GLOBAL ANY LEFT JOIN (
SELECT cookie_id AS _numbered_cookie_id, number FROM analytics_visitors
WHERE project_id = ${project} AND cookie_id IN (${cookies})
) AS numbers ON _numbered_cookie_id = ${cookie}`

/** Returns SQL of one key for visitors with `number`, and for those without one. */
export const visitorSql = (cookie: string): string =>
  `(number, if(number = 0, ${cookie}, toUUID('${zeroUuid}')))`

/** Returns SQL of the visitor columns of scanned rows, which have `number`. */
export const scannedVisitors = (cookie: string): string =>
  `groupBitmapStateIf(number, number != 0) AS numbered, uniqExactStateIf(${cookie}, number = 0) AS unnumbered`

/** SQL of the visitor columns of counted rows. */
export const rolledVisitors = `visitors AS numbered, arrayReduce('uniqExactStateIf', CAST([], 'Array(UUID)'), CAST([], 'Array(UInt8)')) AS unnumbered`

/** SQL of the number of visitors in both. */
export const mergedVisitors = 'groupBitmapMerge(numbered) + uniqExactMerge(unnumbered)'

/** Returns SQL of the number of visitors in rows that meet a condition. */
export const mergedVisitorsIf = (condition: string): string =>
  `groupBitmapMergeIf(numbered, ${condition}) + uniqExactMergeIf(unnumbered, ${condition})`

/** The state of a project's visitor numbers: the highest one, and a combination of all. */
export interface Numbering {
  readonly last: number
  readonly combined: string
}

/**
 * Assigns numbers to cookies of a project's events in a window that have none. Run it for one project at a
 * time, because two concurrent runs would assign a number twice. A process that counted as dead may still do
 * so. Then this function or requireNumbering deletes all numbers.
 */
export async function numberVisitors(
  clickhouse: ClickHouse,
  { organizationId, projectId }: { organizationId: string; projectId: string },
  { startMs, endMs }: Window,
  settings: string,
): Promise<Numbering> {
  const numbered = 'FROM analytics_visitors WHERE project_id = {projectId:UUID}'
  const cookies = `SELECT DISTINCT cookie_id FROM events
    WHERE organization_id = {organizationId:UUID} AND project_id = {projectId:UUID} AND source = 'pixel'
      AND ts_millis >= {startMs:Int64} AND ts_millis < {endMs:Int64}`
  await clickhouse.command({
    sql: `INSERT INTO analytics_visitors (project_id, cookie_id, organization_id, number, numbered_at)
      SELECT {projectId:UUID}, cookie_id, {organizationId:UUID},
        toUInt32((SELECT max(number) ${numbered}) + rowNumberInAllBlocks() + 1), now64(6)
      FROM (${cookies} AND cookie_id NOT IN (SELECT cookie_id ${numbered} AND cookie_id IN (${cookies})))
      ${settings}`,
    params: { organizationId, projectId, startMs, endMs },
  })
  return readNumbering(clickhouse, projectId)
}

/**
 * Throws if two visitors with numbers assigned since then have the same one, which makes counts with these
 * numbers wrong.
 */
export async function requireNumbering(
  clickhouse: ClickHouse,
  projectId: string,
  { last, combined }: Numbering,
): Promise<void> {
  const now = await readNumbering(clickhouse, projectId, last)
  if (now.combined !== combined) await forgetNumbering(clickhouse, projectId)
}

async function readNumbering(
  clickhouse: ClickHouse,
  projectId: string,
  upTo: number | null = null,
): Promise<Numbering> {
  const [found] = await clickhouse.rows<Numbering & { is_unique: boolean }>({
    sql: `SELECT toBool(count() = uniqExact(number) AND count() = uniqExact(cookie_id)) AS is_unique, max(number) AS last,
        toString(groupBitXorIf(cityHash64(cookie_id, number, numbered_at), number <= {upTo:UInt32})) AS combined
      FROM analytics_visitors WHERE project_id = {projectId:UUID}`,
    params: { projectId, upTo: upTo ?? numberMax },
  })
  return found!.is_unique ? found! : forgetNumbering(clickhouse, projectId)
}
const numberMax = 2 ** 32 - 1

/**
 * Deletes twice, because a process that records a number in between then finds that the numbers were deleted.
 */
async function forgetNumbering(clickhouse: ClickHouse, projectId: string): Promise<never> {
  for (const table of ['analytics_runs', 'analytics_visitors', 'analytics_runs'])
    await clickhouse.command({
      sql: `ALTER TABLE ${table} DELETE WHERE project_id = {projectId:UUID} SETTINGS mutations_sync = 2`,
      params: { projectId },
    })
  throw new Error(
    `visitors of project ${projectId} had the same number: its days are counted again`,
  )
}

/** Deletes the numbers of visitors without events in a project; no valid count contains them. */
export async function forgetVisitors(clickhouse: ClickHouse, projectId: string): Promise<void> {
  await deleteRows(
    clickhouse,
    'analytics_visitors',
    {
      sql: `project_id = {projectId:UUID} AND cookie_id NOT IN
        (SELECT cookie_id FROM events WHERE project_id = {projectId:UUID} AND source = 'pixel')`,
      params: { projectId },
    },
    'SETTINGS mutations_sync = 2',
  )
}
