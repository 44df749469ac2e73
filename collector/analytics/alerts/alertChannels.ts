/** The channels of alerts on figures and on visits: mails to members, and posts to a chat. */
import { Type } from 'typebox'
import { Id, Nullable } from '../../api/http/commonSchemas.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import type { WarnLog } from '../../platform/log.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { OutboundError } from '../../platform/outbound/outboundError.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'

export const chatQueue = 'alerts.chat'

export const MemberIds = Type.Array(Id, {
  maxItems: 20,
  uniqueItems: true,
  description: 'The members who get a mail. Each must have access to the project.',
})

export const ChatUrl = Type.Optional(
  Nullable(Type.String({ format: 'uri', maxLength: 2_000 }), {
    description:
      'An incoming webhook of Slack, Microsoft Teams or Discord, or of a chat that accepts the JSON of Slack (`{"text"}`). Never returned. On an update, omit it to keep it, or send null to remove it.',
  }),
)

/** Returns the purpose under which the address of a chat is encrypted. */
const chatPurpose = (alertId: string): string => `alert:${alertId}`

/** Encrypts the address of an alert's chat; null without one. */
export const sealChatUrl = (
  secretBox: SecretBox,
  alertId: string,
  url: string | null | undefined,
): string | null => (url ? secretBox.seal(url, chatPurpose(alertId)) : null)

/** Returns undefined to keep the stored address. Throws 400 for an internal address. */
export async function readChatUrl(
  outbound: Outbound,
  given: string | null | undefined,
): Promise<string | null | undefined> {
  if (!given) return given
  try {
    return (await outbound.check(given)).href
  } catch (error) {
    if (error instanceof OutboundError) throw invalidParameter('chat_url', error.message)
    throw error
  }
}

/** The right that a member needs in a project: to read events, or also the visitors' identities. */
export type Reads = 'read' | 'identity'

/** SQL: whether a member may read the project `$1`. */
const maySee = (reads: Reads): string => `(members.role <> 'member' OR EXISTS (
  SELECT FROM project_members
  WHERE project_members.project_id = $1 AND project_members.member_id = members.member_id
    ${reads === 'identity' ? "AND project_members.role = 'admin'" : ''}))`

/** Throws 400 for members who may not read the project. */
export async function requireReaders(
  client: Queryable,
  projectId: string,
  memberIds: readonly string[],
  reads: Reads,
): Promise<void> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int FROM members JOIN projects USING (organization_id)
     WHERE project_id = $1 AND member_id = ANY($2) AND ${maySee(reads)}`,
    [projectId, memberIds],
  )
  if (rows[0]!.count === memberIds.length) return
  throw invalidParameter(
    'member_ids',
    reads === 'identity'
      ? 'must be members who may see identities: owners, admins and admins of the project'
      : 'must be members who have access to the project',
  )
}

/** Returns the addresses of the members who can still sign in and read the project. */
export async function readersOf(
  client: Queryable,
  projectId: string,
  memberIds: readonly string[],
  reads: Reads,
): Promise<string[]> {
  const { rows } = await client.query<{ email: string }>(
    `SELECT email FROM projects JOIN members USING (organization_id)
     WHERE project_id = $1 AND member_id = ANY($2)
       AND (user_id IS NOT NULL OR provider_subject IS NOT NULL) AND ${maySee(reads)}`,
    [projectId, memberIds],
  )
  return rows.map(({ email }) => email)
}

/** The alert whose chat gets a message. */
type AlertId = { readonly alertId: string } | { readonly visitAlertId: string }

/** Sends a message to the chat of an alert, once the transaction commits. */
export async function sendToChat(
  client: Queryable,
  id: AlertId,
  { title, text }: ChatMessage,
): Promise<void> {
  await client.query(
    `INSERT INTO alert_chat_messages (message_id, alert_id, visit_alert_id, title, text)
     VALUES ($1, $2, $3, $4, $5)`,
    [
      uuidV7(),
      'alertId' in id ? id.alertId : null,
      'visitAlertId' in id ? id.visitAlertId : null,
      title,
      text,
    ],
  )
  await wakeQueue(client, chatQueue)
}

export interface ChatDeps {
  postgres: Postgres
  outbound: Outbound
  secretBox: SecretBox
  log: WarnLog
}

interface StoredMessage extends ChatMessage {
  message_id: string
  alert_id: string
  tries: number
  chat_url: string | null
}

const [chatTriesMax, chatBatch] = [6, 50]

/**
 * Posts due messages, first the oldest one of each organization, so that many messages of one do not delay others. A
 * refused message is retried after one minute, then two, four, and so on.
 */
export async function postToChats(deps: ChatDeps, signal: AbortSignal): Promise<void> {
  const { rows } = await deps.postgres.query<StoredMessage>(
    `UPDATE alert_chat_messages AS message SET tries = message.tries + 1, due_at = now() + 2 ^ message.tries * interval '1 minute'
     FROM alert_chat_messages AS due LEFT JOIN alerts USING (alert_id)
       LEFT JOIN visit_alerts ON visit_alerts.visit_alert_id = due.visit_alert_id
     WHERE message.message_id = due.message_id AND due.message_id IN (
       SELECT message_id FROM alert_chat_messages WHERE due_at <= now() AND message_id IN (
         SELECT message_id FROM (
           SELECT message_id, due_at, row_number() OVER (PARTITION BY organization_id ORDER BY due_at) AS place
           FROM alert_chat_messages LEFT JOIN alerts USING (alert_id)
             LEFT JOIN visit_alerts ON visit_alerts.visit_alert_id = alert_chat_messages.visit_alert_id
             JOIN projects ON projects.project_id = coalesce(alerts.project_id, visit_alerts.project_id)
           WHERE due_at <= now()) AS placed
         ORDER BY place, due_at LIMIT ${chatBatch})
       FOR UPDATE SKIP LOCKED)
     RETURNING message.message_id, coalesce(message.alert_id, message.visit_alert_id) AS alert_id,
       message.title, message.text, message.tries, coalesce(alerts.chat_url, visit_alerts.chat_url) AS chat_url`,
  )
  // A chat that answers slowly must not delay the messages of others.
  await Promise.all(rows.map((message) => postMessage(deps, message, signal)))
}

async function postMessage(
  { postgres, outbound, secretBox, log }: ChatDeps,
  { message_id, alert_id, tries, chat_url, ...message }: StoredMessage,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const error = chat_url
    ? await post(outbound, secretBox.open(chat_url, chatPurpose(alert_id)), message)
    : null
  if (error !== null && tries < chatTriesMax) return
  if (error !== null)
    log.warn({ alert_id, error }, 'the message of an alert was not accepted, and is not sent again')
  await postgres.query('DELETE FROM alert_chat_messages WHERE message_id = $1', [message_id])
}

/** Posts a message to a chat. Returns the reason if the chat refused it, otherwise null. */
async function post(outbound: Outbound, url: string, message: ChatMessage): Promise<string | null> {
  try {
    const body = JSON.stringify(chatBody(url, message))
    const headers = { 'content-type': 'application/json' }
    const { status } = await outbound.send({ method: 'POST', url, headers, body, takesPart: true })
    return status < 300 ? null : `the chat answered ${status}`
  } catch (error) {
    return (error as Error).message
  }
}

interface ChatMessage {
  readonly title: string
  /** Lines of plain text. */
  readonly text: string
}

/** Discord refuses longer messages. */
const discordCharsMax = 2_000

/**
 * Returns the JSON of a message for the incoming webhook at an address. The host decides between Microsoft Teams and
 * Discord. All others get what Slack, Mattermost and Rocket.Chat accept: `{"text"}`. Visitors choose parts of the text,
 * so none of the forms lets it mention people or format itself where the chat can prevent that.
 */
export function chatBody(url: string, message: ChatMessage): object {
  const { hostname, pathname } = new URL(url)
  if (isOf(hostname, teamsDomains)) return teamsBody(message)
  // Discord also has addresses for Slack's form.
  if (isOf(hostname, discordDomains) && !pathname.endsWith('/slack')) return discordBody(message)
  return { text: slackText(`*${message.title}*\n${message.text}`) }
}

/** Connectors of Teams, and workflows of Power Automate. */
const teamsDomains = ['webhook.office.com', 'logic.azure.com', 'powerplatform.com']
const discordDomains = ['discord.com', 'discordapp.com']

const isOf = (host: string, domains: readonly string[]): boolean =>
  domains.some((domain) => host === domain || host.endsWith(`.${domain}`))

/** Escapes the characters that Slack reads as markup, such as `<!channel>`. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** An Adaptive Card, the only form that workflows of Teams accept. Without `entities` it mentions nobody. */
const teamsBody = ({ title, text }: ChatMessage) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.2',
        body: [
          { type: 'TextBlock', text: withoutMarkup(title), weight: 'bolder', wrap: true },
          // Teams joins the lines of one block.
          ...text
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => ({
              type: 'TextBlock',
              text: withoutMarkup(line),
              wrap: true,
              spacing: 'small',
            })),
        ],
      },
    },
  ],
})

const discordBody = ({ title, text }: ChatMessage) => ({
  content: `**${withoutMarkup(title)}**\n${withoutMarkup(text)}`.slice(0, discordCharsMax),
  allowed_mentions: { parse: [] },
})

/** Escapes emphasis, code and links of Markdown. */
const withoutMarkup = (text: string): string => text.replace(/[\\*_~`[\]]/g, '\\$&')
