import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import { createCompleteUntil } from '../../events/query/window/completeUntil.ts'
import { counted } from '../../platform/counted.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import { mailTo } from '../../platform/outbox/mails.ts'
import { emit } from '../../platform/outbox/outbox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { timeZoneOrUtc } from '../../platform/timeZone.ts'
import { readGoals } from '../goals.ts'
import { type ChatDeps, chatQueue, postToChats, readersOf, sendToChat } from './alertChannels.ts'
import { type Condition, type Measurement, measure } from './condition.ts'

interface AlertJobsDeps extends ChatDeps {
  openQueryExecutor: OpenQueryExecutor
  /** The address of this service for browsers, without a slash at the end. */
  publicUrl: string
}

/** The background jobs of alerts: check each once a minute, and post to chats. */
export const alertQueues = (deps: AlertJobsDeps): Queue[] => [
  {
    name: 'alerts.check',
    schedule: '* * * * *',
    timeoutSeconds: 600,
    run: ({ signal }) => checkAlerts(deps, Date.now(), signal),
  },
  { name: chatQueue, schedule: '* * * * *', run: ({ signal }) => postToChats(deps, signal) },
]

/** While older events are not stored yet, the figures of the last hour are unknown. */
const waitingMs = 10 * 60_000

interface CheckedAlert extends ToldAlert {
  time_zone: string
  version: number
}

/**
 * Measures every active alert, and reports those whose state changes. A failing alert does not stop the others. The
 * organizations take turns, so that many slow alerts of one delay only its own.
 */
export async function checkAlerts(
  { postgres, openQueryExecutor, publicUrl, log }: AlertJobsDeps,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const completeUntil = await createCompleteUntil(postgres, () => nowMs)({ mode: 'live' })
  if (completeUntil !== null && completeUntil < nowMs - waitingMs) return
  const endMs = Math.min(completeUntil ?? nowMs, nowMs)
  const { rows } = await postgres.query<CheckedAlert>(
    `SELECT alert_id, alerts.name, condition, organization_id, alerts.project_id, projects.name AS project_name,
      projects.time_zone, member_ids,
       chat_url IS NOT NULL AS has_chat_url, alerts.version
     FROM alerts JOIN projects USING (project_id) WHERE active
     ORDER BY row_number() OVER (PARTITION BY organization_id ORDER BY last_checked_at NULLS FIRST, alert_id), alert_id`,
  )
  for (const alert of rows) {
    signal.throwIfAborted()
    const { organization_id: organizationId, project_id: projectId } = alert
    try {
      const queryExecutor = openQueryExecutor(
        { organizationId, mode: 'live' },
        { effort: 'scan', signal },
      )
      const { goals } = await readGoals(postgres, projectId)
      const scope = { organizationId, projectId }
      const measured = await measure(queryExecutor, scope, alert.condition, goals, {
        endMs,
        zone: timeZoneOrUtc(alert.time_zone),
      })
      await noteMeasurement(postgres, alert, measured, publicUrl)
    } catch (error) {
      signal.throwIfAborted()
      log.warn(
        { alert_id: alert.alert_id, error: (error as Error).message },
        'an alert could not be checked',
      )
    }
  }
}

/** Stores a measurement, and reports the alert if its state changed. An alert that was edited meanwhile waits. */
async function noteMeasurement(
  postgres: Postgres,
  alert: CheckedAlert,
  measured: Measurement | null,
  publicUrl: string,
): Promise<void> {
  await inTransaction(postgres, async (client) => {
    const { rows } = await client.query<{ is_raised: boolean }>(
      `SELECT is_raised FROM alerts WHERE alert_id = $1 AND version = $2 AND active FOR UPDATE`,
      [alert.alert_id, alert.version],
    )
    if (!rows[0]) return
    const hasChanged = measured !== null && measured.isRaised !== rows[0].is_raised
    await client.query(
      `UPDATE alerts SET last_value = $2, last_checked_at = now(), is_raised = $3,
         changed_at = CASE WHEN $4 THEN now() ELSE changed_at END WHERE alert_id = $1`,
      [
        alert.alert_id,
        measured?.value ?? null,
        measured?.isRaised ?? rows[0].is_raised,
        hasChanged,
      ],
    )
    if (hasChanged) await tellAlert(client, alert, measured, publicUrl)
  })
}

interface ToldAlert {
  alert_id: string
  name: string
  condition: Condition
  organization_id: string
  project_id: string
  project_name: string
  has_chat_url: boolean
  member_ids: string[]
}

/** Reports by mail, webhook and chat that an alert was raised or is normal again, once the transaction commits. */
async function tellAlert(
  client: Queryable,
  alert: ToldAlert,
  measured: Measurement,
  publicUrl: string,
): Promise<void> {
  const { alert_id, organization_id: organizationId, project_id: projectId, name } = alert
  const subject = measured.isRaised
    ? `${alert.project_name}: ${name}`
    : `${alert.project_name}: ${name} is normal again`
  const url = `${publicUrl}/${organizationId}/projects/${projectId}/alerts`
  const text = `${sentenceOf(alert.condition, measured)}\n\n${url}\n`
  await emit(client, {
    organizationId,
    projectId,
    type: measured.isRaised ? 'alert.raised' : 'alert.resolved',
    data: {
      alert_id,
      project_id: projectId,
      name,
      condition: alert.condition,
      value: measured.value,
      usual: measured.usual ?? null,
    },
  })
  for (const email of await readersOf(client, projectId, alert.member_ids, 'read'))
    await mailTo(client, email, { subject, text })
  if (alert.has_chat_url)
    await sendToChat(client, { alertId: alert_id }, { title: subject, text: text.trim() })
}

const windowNames = { hour: 'in the last hour', day: 'in the last 24 hours' } as const
const metricNouns = { visitors: 'visitor', page_views: 'page view', events: 'event' } as const

function sentenceOf(
  { kind, metric, window, value: limit, goal }: Condition,
  { value, usual }: Measurement,
): string {
  const when = windowNames[window]
  const count = (number: number) => Math.round(number).toLocaleString('en')
  const measured = (noun: string) => counted(Math.round(value), noun)
  switch (kind) {
    case 'silence':
      return value === 0 ? `No events ${when}.` : `${measured('event')} ${when}.`
    case 'goal':
      return `${measured('visitor')} reached “${goal}” ${when} (alert at ${count(limit)}).`
    case 'change':
      return `${measured(metricNouns[metric])} ${when}; usual are ${count(usual ?? 0)}.`
    default:
      return `${measured(metricNouns[metric])} ${when} (limit ${count(limit)}).`
  }
}
