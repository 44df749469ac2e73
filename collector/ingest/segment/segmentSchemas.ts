import { type Static, Type } from 'typebox'
import { rejectedEventCodes } from '../../../schemas/beacon.ts'
import { itemErrorMembers } from '../../api/http/itemErrors.ts'
import { type MessageType, messageBytesMax } from './message.ts'
import { callBytesMax, callMessagesMax } from './readCall.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))
const object = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description }))

const members = {
  writeKey: text(
    'The id of the pixel, if basic authentication does not name it. Back ends send `PIXEL_ID:API_KEY:API_SECRET`.',
  ),
  messageId: text(
    'A message sent again with the same id is stored once. Any text: the ids of senders with an API key and without one differ.',
  ),
  anonymousId: text(
    'Identifies the visitor. A UUID becomes `cookie_id`. Any other text becomes a UUID that is always the same, one for senders with an API key and another for those without one.',
  ),
  userId: text(
    'Identifies the visitor if there is no `anonymousId`. The ids of senders with an API key and without one differ.',
  ),
  timestamp: text('Time of the message, by the clock of the sender: ISO 8601.'),
  originalTimestamp: text('Replaces `timestamp`.'),
  sentAt: text(
    'Time of the sender’s clock when it sent the message. Times are corrected if the clock is wrong by more than a minute.',
  ),
  context: object(
    '`page`, `screen`, `locale`, `campaign`, `library`, `app` and `consent`. `ip` and `userAgent` require an API key in the write key.',
  ),
}
const own = {
  event: text('track: the name of the event, 1 to 100 characters.'),
  name: text('page and screen: the name.'),
  category: text('page and screen: the category.'),
  properties: object('track, page and screen: the properties.'),
  traits: object(
    'identify and alias: `email`, or `hem` with `hem_signature`. group: stored as properties.',
  ),
  groupId: text('group: the group.'),
  previousId: text('alias: the previous id, which is not stored.'),
}

const Message = Type.Object({ ...members, ...own }, { title: 'SegmentMessage' })

const Batch = Type.Object(
  {
    writeKey: members.writeKey,
    sentAt: members.sentAt,
    batch: Type.Array(
      Type.Intersect([
        Type.Object({
          type: Type.String({
            description: 'The call: track, page, screen, identify, group or alias.',
          }),
        }),
        Message,
      ]),
      {
        maxItems: callMessagesMax,
      },
    ),
  },
  { title: 'SegmentBatch' },
)

const Receipt = Type.Object(
  {
    success: Type.Literal(true),
    rejected: Type.Optional(
      Type.Array(Type.Object(itemErrorMembers(rejectedEventCodes)), {
        description: 'The messages that were not stored, with reasons. Absent if there are none.',
      }),
    ),
  },
  { title: 'SegmentReceipt' },
)
export type SegmentReceipt = Static<typeof Receipt>

const becomes: Record<MessageType, string> = {
  track: 'It becomes a `custom` event with its name and properties.',
  page: 'It becomes a `page_view`.',
  screen: 'It becomes a `custom` event named `screen`, because a screen has no URL.',
  identify:
    'It links the visitor to the e-mail address or hem in `traits`. Footfall hashes the address and stores only the hash. Other traits are not stored.',
  group: 'It becomes a `custom` event named `group`, with the traits and `group_id` as properties.',
  alias:
    'It links the visitor like `identify` if `traits` has an e-mail address or hem, and otherwise stores nothing.',
}

const common = {
  tags: ['Ingest'],
  security: [{}, { basic: [] }],
  response: {
    200: {
      description: 'The events are on disk.',
      content: { 'application/json': { schema: Receipt } },
    },
  },
}

const bodyOf = <S extends object>(schema: S) => ({
  content: { 'application/json': { schema }, 'text/plain': { schema } },
})

const limits = `At most ${callBytesMax / 1024} KiB, plain or gzip, with messages of at most ${messageBytesMax / 1024} KiB.`

/** POST /v1/track and the other calls that send one message. */
export const describeMessage = (type: MessageType) => ({
  ...common,
  operationId: `sendSegment${type[0]!.toUpperCase()}${type.slice(1)}`,
  summary: `Send a ${type} message of Segment’s API`,
  description: `Not billed. ${becomes[type]} An invalid message is answered with 400. ${limits}`,
  body: bodyOf(Message),
})

/** POST /v1/batch. */
export const describeBatch = {
  ...common,
  operationId: 'sendSegmentBatch',
  summary: 'Send a batch of messages of Segment’s API',
  description: `Not billed. Accepts messages of several visitors. An invalid message does not affect the others: \`rejected\` names it. ${limits} At most ${callMessagesMax} messages.`,
  body: bodyOf(Batch),
}
