import { counted } from '../../platform/counted.ts'
import { mailTo } from '../../platform/outbox/mails.ts'
import { emit } from '../../platform/outbox/outbox.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { readersOf, sendToChat } from './alertChannels.ts'
import type { Condition, Measurement } from './condition.ts'

export interface ToldAlert {
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
