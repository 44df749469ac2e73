import { wakeQueue } from '../../platform/jobs/queue.ts'
import { mailTo } from '../../platform/outbox/mails.ts'
import { emit } from '../../platform/outbox/outbox.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import type { Condition, Measurement } from './condition.ts'

export const chatQueue = 'alerts.chat'

/** An alert with its project and the people who get its messages. */
export interface ToldAlert {
  alert_id: string
  name: string
  condition: Condition
  organization_id: string
  project_id: string
  project_name: string
  has_chat_url: boolean
}

/** Reports by mail, webhook and chat that an alert was raised or is normal again, once the transaction commits. */
export async function tellAlert(
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
  for (const email of await readersOf(client, alert_id))
    await mailTo(client, email, { subject, text })
  if (alert.has_chat_url) await sendToChat(client, alert_id, `*${subject}*\n${text.trim()}`)
}

/** Sends a text to the chat of an alert, once the transaction commits. */
async function sendToChat(client: Queryable, alertId: string, text: string): Promise<void> {
  await client.query(
    'INSERT INTO alert_chat_messages (message_id, alert_id, body) VALUES ($1, $2, $3)',
    [uuidV7(), alertId, JSON.stringify({ text })],
  )
  await wakeQueue(client, chatQueue)
}

/** Returns the addresses of the alert's members who can still sign in and see the project. */
async function readersOf(client: Queryable, alertId: string): Promise<string[]> {
  const { rows } = await client.query<{ email: string }>(
    `SELECT email FROM alerts JOIN projects USING (project_id)
       JOIN members ON members.organization_id = projects.organization_id AND member_id = ANY(member_ids)
     WHERE alert_id = $1 AND (user_id IS NOT NULL OR provider_subject IS NOT NULL)
       AND (role <> 'member' OR EXISTS (
         SELECT FROM project_members
         WHERE project_members.project_id = projects.project_id AND project_members.member_id = members.member_id))`,
    [alertId],
  )
  return rows.map(({ email }) => email)
}

const windowNames = { hour: 'in the last hour', day: 'in the last 24 hours' } as const
const metricNames = { visitors: 'visitors', page_views: 'page views', events: 'events' } as const

/** Returns a sentence that describes the measurement. */
function sentenceOf(
  { kind, metric, window, value: limit, goal }: Condition,
  { value, usual }: Measurement,
): string {
  const when = windowNames[window]
  const count = (number: number) => Math.round(number).toLocaleString('en')
  switch (kind) {
    case 'silence':
      return value === 0 ? `No events ${when}.` : `${count(value)} events ${when}.`
    case 'goal':
      return `${count(value)} visitors reached “${goal}” ${when} (alert at ${count(limit)}).`
    case 'change':
      return `${count(value)} ${metricNames[metric]} ${when}; usual are ${count(usual ?? 0)}.`
    default:
      return `${count(value)} ${metricNames[metric]} ${when} (limit ${count(limit)}).`
  }
}
