import type { Tier } from '../../../schemas/fields.ts'
import { readersOf, sendToChat } from '../../analytics/alerts/alertChannels.ts'
import { counted } from '../../platform/counted.ts'
import { mailTo } from '../../platform/outbox/mails.ts'
import { emit } from '../../platform/outbox/outbox.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

/** A match that this process reports now. */
export interface ClaimedMatch {
  match_id: string
  visit_alert_id: string
  person_key: string
  day: string
  event_id: string
  ts_millis: number
  organization_id: string
  project_id: string
  project_name: string
  name: string
  tier: Exclude<Tier, 'web_event'>
  member_ids: string[]
  has_chat_url: boolean
}

/** An event with the fields that were read. */
export type Row = Record<string, unknown>

/** The newest pages of the session in a message. */
const pagesMax = 50
/** The newest pages in a mail or a chat. */
const listedMax = 10

/** Reports a visit by webhook, mail and chat, once the transaction commits. */
export async function tellVisit(
  client: Queryable,
  match: ClaimedMatch,
  visitor: Row,
  events: readonly Row[],
  publicUrl: string,
): Promise<void> {
  const { organization_id: organizationId, project_id: projectId, visit_alert_id, name } = match
  const session = sessionOf(events)
  await emit(client, {
    messageId: match.match_id,
    organizationId,
    projectId,
    type: 'visit.matched',
    data: {
      visit_alert_id,
      project_id: projectId,
      name,
      tier: match.tier,
      visitor: Object.fromEntries(Object.entries(visitor).filter(([, value]) => value !== null)),
      session,
    },
  })
  const subject = `${match.project_name}: ${name}`
  const url = `${publicUrl}/${organizationId}/projects/${projectId}/alerts`
  const lines = [
    visitorText(visitor),
    `${counted(session.events, 'event')} since ${session.started_at}:`,
    ...session.pages
      .slice(-listedMax)
      .map(({ title, url }) => `- ${title ? `${title} ` : ''}${url}`),
  ]
  const text = lines.join('\n')
  for (const email of await readersOf(client, projectId, match.member_ids, 'identity'))
    await mailTo(client, email, { subject, text: `${text}\n\n${url}\n` })
  if (match.has_chat_url)
    await sendToChat(client, { visitAlertId: visit_alert_id }, `*${subject}*\n${text}\n${url}`)
}

/** The session so far, from its events, oldest first. */
function sessionOf(events: readonly Row[]) {
  const timeOf = (row: Row) => new Date(Number(row.ts_millis)).toISOString()
  const pages = events.filter(({ event_type }) => event_type === 'page_view')
  return {
    started_at: events[0] ? timeOf(events[0]) : null,
    events: events.length,
    page_views: pages.length,
    referrer_url: events[0]?.referrer_url ?? null,
    pages: pages.slice(-pagesMax).map((row) => ({
      at: timeOf(row),
      url: row.page_url ?? null,
      title: titleOf(row),
    })),
  }
}

/** The title of a page view, from its payload. */
function titleOf({ event_data }: Row): string | null {
  const { title } = JSON.parse(String(event_data)) as { title?: unknown }
  return typeof title === 'string' ? title : null
}

/** A line that names the visitor by the fields of the tier. */
function visitorText({ first_name, last_name, job_title, company_name, hem }: Row): string {
  const person = [first_name, last_name].filter(Boolean).join(' ')
  const position = [job_title, company_name].filter(Boolean).join(', ')
  return [person || `hem ${hem}`, position].filter(Boolean).join(' · ')
}
