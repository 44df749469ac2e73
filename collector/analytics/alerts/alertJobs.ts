import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import { createCompleteUntil } from '../../events/query/completeUntil.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import type { WarnLog } from '../../platform/log.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { timeZoneOrUtc } from '../../platform/timeZone.ts'
import { readGoals } from '../goals.ts'
import { chatQueue, type ToldAlert, tellAlert } from './alertMessages.ts'
import { chatPurpose } from './alerts.ts'
import { type Measurement, measure } from './condition.ts'

export interface AlertJobsDeps {
  postgres: Postgres
  openQueryExecutor: OpenQueryExecutor
  outbound: Outbound
  secretBox: SecretBox
  /** The address of this service for browsers, without a slash at the end. */
  publicUrl: string
  log: WarnLog
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
 * Measures every active alert, and reports those whose state changes. A failing alert does not stop the
 * others.
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
    `SELECT alert_id, alerts.name, condition, organization_id, alerts.project_id, projects.name AS project_name, projects.time_zone,
       chat_url IS NOT NULL AS has_chat_url, alerts.version
     FROM alerts JOIN projects USING (project_id) WHERE active ORDER BY alerts.project_id, alert_id`,
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

const [chatTriesMax, chatBatch] = [6, 50]

/** Posts due messages. A refused message is retried after one minute, then two, four, and so on. */
export async function postToChats(
  { postgres, outbound, secretBox, log }: AlertJobsDeps,
  signal: AbortSignal,
): Promise<void> {
  const { rows } = await postgres.query<{
    message_id: string
    alert_id: string
    body: string
    tries: number
    chat_url: string | null
  }>(
    `UPDATE alert_chat_messages AS message SET tries = tries + 1, due_at = now() + 2 ^ tries * interval '1 minute'
     FROM alerts WHERE alerts.alert_id = message.alert_id AND message_id IN (
       SELECT message_id FROM alert_chat_messages WHERE due_at <= now()
       ORDER BY due_at LIMIT ${chatBatch} FOR UPDATE SKIP LOCKED)
     RETURNING message_id, message.alert_id, body, tries, chat_url`,
  )
  for (const { message_id, alert_id, body, tries, chat_url } of rows) {
    signal.throwIfAborted()
    const error = chat_url
      ? await post(outbound, secretBox.open(chat_url, chatPurpose(alert_id)), body)
      : null
    if (error !== null && tries < chatTriesMax) continue
    if (error !== null)
      log.warn(
        { alert_id, error },
        'the message of an alert was not accepted, and is not sent again',
      )
    await postgres.query('DELETE FROM alert_chat_messages WHERE message_id = $1', [message_id])
  }
}

/** Posts a message to a chat. Returns the reason if the chat refused it, otherwise null. */
async function post(outbound: Outbound, url: string, body: string): Promise<string | null> {
  try {
    const headers = { 'content-type': 'application/json' }
    const { status } = await outbound.send({ method: 'POST', url, headers, body, takesPart: true })
    return status < 300 ? null : `the chat answered ${status}`
  } catch (error) {
    return (error as Error).message
  }
}
