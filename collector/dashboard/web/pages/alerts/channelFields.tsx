import { Checkbox, TextField } from '../../components/fields.tsx'
import type { Values } from '../../components/form.tsx'
import { type Channels, channelsIn, type Receivers } from './receivers.ts'

/** Fields of who gets the messages of an alert: members by mail, and a chat. Says so if nobody does. */
export function ChannelFields({
  alert,
  receivers: { members, sendsMail },
  hasReceiver,
}: {
  alert: Channels | null
  receivers: Receivers
  hasReceiver: boolean
}) {
  return (
    <>
      {sendsMail && (
        <fieldset class="choice">
          <legend>Mail to</legend>
          {members.map(({ member_id, name, email }) => (
            <Checkbox key={member_id} name={`member-${member_id}`} label={name ?? email} />
          ))}
        </fieldset>
      )}
      <TextField
        name="chat_url"
        label="Chat webhook"
        hint={
          alert?.has_chat_url
            ? 'An address is stored. Leave this empty to keep it.'
            : 'An incoming webhook of Slack, Microsoft Teams, Discord, Mattermost or Rocket.Chat. It is stored encrypted.'
        }
        maxLength={2000}
      />
      {alert?.has_chat_url && <Checkbox name="removes_chat" label="Remove the chat webhook" />}
      <p class="hint" role="status">
        {!hasReceiver &&
          `Nobody receives this alert. ${
            sendsMail
              ? 'Choose a member, enter a chat webhook'
              : 'This service sends no mail. Enter a chat webhook'
          }, or create a webhook of the project.`}
      </p>
    </>
  )
}

/** Returns the values of the mail checkboxes. */
export const channelValues = ({ member_ids }: Channels): Values =>
  Object.fromEntries(member_ids.map((id) => [`member-${id}`, 'on']))

/** Returns the channels of a request from the values of the form. */
export const channelsOf = (values: Values, alert: Channels | null, receivers: Receivers) => {
  const { chat_url, removes_chat } = values
  return {
    // Without mail the form shows no members, and those of the alert remain.
    member_ids: receivers.sendsMail
      ? channelsIn(values, alert, receivers).member_ids
      : (alert?.member_ids ?? []),
    ...(chat_url ? { chat_url } : removes_chat === 'on' && { chat_url: null }),
  }
}
