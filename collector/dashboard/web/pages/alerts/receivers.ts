import { api, type Member, type Webhook } from '../../api.ts'
import type { Values } from '../../components/form.tsx'
import { counted } from '../../format.ts'
import { isOrganizationAdmin, session } from '../../session.ts'

type EventType = Webhook['event_types'][number]

/** Who can receive the messages of a project's alerts. */
export interface Receivers {
  members: Member[]
  /** Whether the service sends mail at all. */
  sendsMail: boolean
  /** Event types that an active webhook receives, as far as the reader may know. */
  webhookTypes: readonly EventType[]
}

/** An alert with its channels. */
export interface Channels {
  member_ids: string[]
  has_chat_url: boolean
}

/** Reads who can receive the messages. Only admins of a project may list its webhooks. */
export async function readReceivers(projectId: string, mayEdit: boolean): Promise<Receivers> {
  const isOfOrganization = session.value ? isOrganizationAdmin(session.value) : false
  const none = { webhooks: [] as Webhook[] }
  const [{ members }, { by_mail }, own, all] = await Promise.all([
    api.listMembers({ limit: 200 }),
    api.getEmailSummary({ project_id: projectId }),
    mayEdit ? api.listWebhooks({ project_id: projectId }) : none,
    isOfOrganization ? api.listWebhooks({ limit: 200 }) : none,
  ])
  const readers = members.filter(
    ({ status, role, projects }) =>
      status === 'active' &&
      (role !== 'member' || projects.some(({ project_id }) => project_id === projectId)),
  )
  const shared = all.webhooks.filter(({ project_id }) => project_id === null)
  const active = [...own.webhooks, ...shared].filter(({ enabled }) => enabled)
  return {
    members: readers,
    sendsMail: by_mail,
    webhookTypes: active.flatMap(({ event_types }) => event_types),
  }
}

/** Names who receives an alert's messages; '' if nobody does. */
export function receiversText(
  { member_ids, has_chat_url }: Channels,
  { sendsMail, webhookTypes }: Receivers,
  type: EventType,
): string {
  return [
    sendsMail && member_ids.length > 0 && counted(member_ids.length, 'member'),
    has_chat_url && 'chat',
    webhookTypes.includes(type) && 'webhook',
  ]
    .filter(Boolean)
    .join(', ')
}

/** Returns the channels that a form's values describe. */
export function channelsIn(
  values: Values,
  alert: Channels | null,
  { members }: Receivers,
): Channels {
  const { chat_url, removes_chat } = values
  return {
    member_ids: members
      .map(({ member_id }) => member_id)
      .filter((id) => values[`member-${id}`] === 'on'),
    has_chat_url: Boolean(chat_url) || (alert?.has_chat_url === true && removes_chat !== 'on'),
  }
}
