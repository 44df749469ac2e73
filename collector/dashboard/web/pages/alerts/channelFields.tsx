import type { Member } from '../../api.ts'
import { Checkbox, TextField } from '../../components/fields.tsx'
import type { Values } from '../../components/form.tsx'

/** An alert as its channels need it. */
interface Channels {
  member_ids: string[]
  has_chat_url: boolean
}

/** Fields of who gets the messages of an alert: members by mail, and a chat. */
export function ChannelFields({ alert, members }: { alert: Channels | null; members: Member[] }) {
  return (
    <>
      <fieldset class="choice">
        <legend>Mail to</legend>
        {members.map(({ member_id, name, email }) => (
          <Checkbox key={member_id} name={`member-${member_id}`} label={name ?? email} />
        ))}
      </fieldset>
      <TextField
        name="chat_url"
        label="Chat webhook"
        hint={
          alert?.has_chat_url
            ? 'An address is stored. Leave this empty to keep it.'
            : 'An incoming webhook of Slack, Mattermost or Rocket.Chat. It is stored encrypted.'
        }
        maxLength={2000}
      />
      {alert?.has_chat_url && <Checkbox name="removes_chat" label="Remove the chat webhook" />}
    </>
  )
}

/** Returns the values of the mail checkboxes. */
export const channelValues = ({ member_ids }: Channels): Values =>
  Object.fromEntries(member_ids.map((id) => [`member-${id}`, 'on']))

/** Returns the channels of a request from the values of the form. */
export const channelsOf = (values: Values, members: readonly Member[]) => {
  const { chat_url, removes_chat } = values
  return {
    member_ids: members
      .map(({ member_id }) => member_id)
      .filter((id) => values[`member-${id}`] === 'on'),
    ...(chat_url ? { chat_url } : removes_chat === 'on' && { chat_url: null }),
  }
}
