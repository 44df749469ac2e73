import { fieldsAt, isSessionField, resolved } from '../../../schemas/fields.ts'
import { type Bind, bindings } from '../../events/query/bind.ts'
import { typedColumns } from '../../events/query/columns.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { hourMs } from '../../platform/days.ts'

/** Events that arrive later than this after their hour are late. */
const lateAfterMs = 10 * 60_000

/** When an hour can be archived: events received before this time belong to its first file. */
export const cutoffOf = (hourStartMs: number): number => hourStartMs + hourMs + lateAfterMs

/** The turn of one hour: its own events, and late ones of earlier hours. */
export interface Turn {
  readonly organizationId: string
  readonly projectId: string
  /** The first hour of the archive. */
  readonly startMs: number
  /** The hour of the turn. */
  readonly runMs: number
}

/** The columns of an archive: what pages sent and the collector added, without identity or sessions. */
export const archivedFields = fieldsAt('web_event').filter(
  (field) => field !== resolved && !isSessionField(field),
)

/**
 * The events of a turn. Each event of the archive belongs to exactly one turn. That is the turn of its hour if it
 * arrived before the hour's cutoff. Otherwise it is the turn between whose cutoffs it arrived.
 */
function turnConditions({ organizationId, projectId, startMs, runMs }: Turn, bind: Bind): string {
  const time = (ms: number) => `fromUnixTimestamp64Milli(${bind('Int64', ms)}, 'UTC')`
  const [run, cutoff] = [bind('Int64', runMs), time(cutoffOf(runMs))]
  return `organization_id = ${bind('UUID', organizationId)} AND project_id = ${bind('UUID', projectId)}
  AND source = 'pixel' AND ts_millis >= ${bind('Int64', startMs)} AND ts_millis < ${run} + ${hourMs}
  AND received_at < ${cutoff} AND (ts_millis >= ${run} OR received_at >= ${time(cutoffOf(runMs - hourMs))})`
}

export function hoursQuery(turn: Turn): Query {
  const { bind, params } = bindings()
  return {
    sql: `SELECT toFloat64(intDiv(ts_millis, ${hourMs}) * ${hourMs}) AS hour_ms, toUInt32(count()) AS rows FROM events
WHERE ${turnConditions(turn, bind)}
GROUP BY hour_ms ORDER BY hour_ms`,
    params,
  }
}

/** The events of one hour in a turn, in the order of their time. */
export function fileQuery(turn: Turn, hourStartMs: number): Query {
  const { bind, params } = bindings()
  const typed = typedColumns(null, bind)
  const [conditions, start] = [turnConditions(turn, bind), bind('Int64', hourStartMs)]
  const columns = archivedFields.map(
    (field) => `${typed(field, `page.${field.name}`)} AS ${field.name}`,
  )
  return {
    sql: `SELECT ${columns.join(', ')}
FROM (
SELECT ${archivedFields.map(({ name }) => name).join(', ')} FROM events
WHERE ${conditions} AND ts_millis >= ${start} AND ts_millis < ${start} + ${hourMs}
) AS page
ORDER BY page.ts_millis, page.event_id`,
    params,
  }
}
