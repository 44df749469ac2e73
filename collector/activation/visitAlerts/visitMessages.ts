import type { Tier } from '../../../schemas/fields.ts'
import { readersOf, sendToChat } from '../../analytics/alerts/alertChannels.ts'
import { counted } from '../../platform/counted.ts'
import { mailTo } from '../../platform/outbox/mails.ts'
import { emit } from '../../platform/outbox/outbox.ts'
import { visitorPath, visitorText } from '../../platform/outbox/visitorText.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { Match } from './visitAlertSchemas.ts'

/** A match that this process reports now. */
export interface ClaimedMatch {
  match_id: string
  visit_alert_id: string
  person_key: string
  day: string
  event_id: string
  ts_millis: number
  is_verified: boolean
  is_charged: boolean
  match: Match
  organization_id: string
  project_id: string
  project_name: string
  name: string
  tier: Exclude<Tier, 'web_event'>
  member_ids: string[]
  has_chat_url: boolean
}

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
      verified: match.is_verified,
      charged: match.is_charged,
      visitor: match.is_charged
        ? Object.fromEntries(Object.entries(visitor).filter(([, value]) => value !== null))
        : { cookie_id: visitor.cookie_id },
      session,
    },
  })
  const subject = `${match.project_name}: ${name}`
  const url = `${publicUrl}/${organizationId}/projects/${projectId}/alerts`
  const lines = [
    match.is_charged ? personLine(visitor) : claimLine(match.match),
    ...(match.is_verified ? [] : ['Not verified: the site did not sign who this visitor is.']),
    `${counted(session.events, 'event')} since ${session.started_at}:`,
    ...session.pages.slice(-listedMax).map(({ title, url }) => `- ${pageText(title, url)}`),
  ]
  const text = lines.join('\n')
  for (const email of await readersOf(client, projectId, match.member_ids, 'identity'))
    await mailTo(client, email, { subject, text: `${text}\n\n${url}\n` })
  if (match.has_chat_url)
    await sendToChat(
      client,
      { visitAlertId: visit_alert_id },
      { title: subject, text: `${text}\n${url}` },
    )
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

function titleOf({ event_data }: Row): string | null {
  const { title } = JSON.parse(String(event_data)) as { title?: unknown }
  return typeof title === 'string' ? title : null
}

function personLine({ first_name, last_name, job_title, company_name, hem }: Row): string {
  const textOf = (values: readonly unknown[], between: string) =>
    values.map(visitorText).filter(Boolean).join(between)
  const person = textOf([first_name, last_name], ' ') || `hem ${hem}`
  return [person, textOf([job_title, company_name], ', ')].filter(Boolean).join(' · ')
}

/** A line about a visitor whose identity nobody verified. It repeats the rule, and reveals no field of a profile. */
function claimLine({ kind, hem, company_domain }: Match): string {
  const claims = {
    person: `the person with the hem ${hem}`,
    company: `of the company ${visitorText(company_domain) ?? 'of this rule'}`,
    profile: 'a person that this rule describes',
    audience: 'a member of the audience of this rule',
  }
  return `A visitor who claims to be ${claims[kind]}`
}

/** A page of the session, whose title and address a visitor may have made up. */
const pageText = (title: unknown, url: unknown): string =>
  [visitorText(title), visitorPath(url)].filter(Boolean).join(' ') || 'A page'
