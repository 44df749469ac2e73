import type { Postgres } from '../../platform/postgres/pool.ts'

/** The rejected events that an organization reads free of charge on a UTC day. */
export const freeRejectedEventsPerDay = 1_000

const dayOf = (nowMs: number): string => new Date(nowMs).toISOString().slice(0, 10)

/** Returns how many rejected events an organization may still read free of charge today. */
export async function freeRejectedEventsLeft(
  postgres: Postgres,
  organizationId: string,
  nowMs: number,
): Promise<number> {
  const { rows } = await postgres.query<{ events: string }>(
    'SELECT events FROM free_rejected_events WHERE organization_id = $1 AND day = $2',
    [organizationId, dayOf(nowMs)],
  )
  return Math.max(0, freeRejectedEventsPerDay - Number(rows[0]?.events ?? 0))
}

/** Counts rejected events that are read, and returns how many of them are free. A negative number gives them back. */
export async function countRejectedEvents(
  postgres: Postgres,
  organizationId: string,
  events: number,
  nowMs: number,
): Promise<{ free: number; left: number }> {
  const { rows } = await postgres.query<{ events: string }>(
    `INSERT INTO free_rejected_events AS kept (organization_id, day, events) VALUES ($1, $2, greatest(0, $3::bigint))
     ON CONFLICT (organization_id) DO UPDATE
       SET day = $2, events = greatest(0, CASE WHEN kept.day = $2 THEN kept.events ELSE 0 END + $3::bigint)
     RETURNING events`,
    [organizationId, dayOf(nowMs), events],
  )
  const total = Number(rows[0]!.events)
  const leftBefore = Math.max(0, freeRejectedEventsPerDay - (total - events))
  return {
    free: Math.min(events, leftBefore),
    left: Math.max(0, freeRejectedEventsPerDay - total),
  }
}
