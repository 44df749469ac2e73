import { Type } from 'typebox'
import { beaconBytesMax, rejectedEventCodes } from '../../../schemas/beacon.ts'
import { keylessAgeDaysMax } from '../../../schemas/eventAge.ts'
import { type EventType, eventDataSchemas, eventTypes } from '../../../schemas/events/index.ts'
import { ignoreSettings } from '../../../schemas/ignored.ts'
import { Choice, Id, Nullable } from '../../api/http/commonSchemas.ts'
import { itemErrorMembers } from '../../api/http/itemErrors.ts'
import { eventAgeDaysMax } from '../normalize/validateEvent.ts'
import { beaconEventsMax } from './beacon.ts'

/** "page_view" → "PageViewEvent". */
const nameOf = (type: EventType) =>
  `${type.replace(/(^|_)([a-z])/g, (_, _separator, letter: string) => letter.toUpperCase())}Event`

const WebEvent = Type.Union(
  eventTypes.map((type) =>
    Type.Object(
      {
        event_id: Type.String({
          format: 'uuid',
          description:
            'A random UUID. An event sent again with the same id is stored once. Do not derive it from a number that others know, such as an order number.',
        }),
        event_type: Type.Literal(type),
        event_data: eventDataSchemas[type],
      },
      { title: nameOf(type) },
    ),
  ),
  { title: 'WebEvent' },
)

const hexDigest = (description: string) =>
  Type.String({ pattern: '^[0-9a-fA-F]{64}$', description })

/** For the documentation: parseBeacon checks the body, and validateEvent its events. */
const Beacon = Type.Object(
  {
    pixel_id: Id,
    cookie_id: Type.Optional(
      Nullable(Id, {
        description:
          'Identifies the browser if it has no cookie of the collector. Null has the meaning of `consent: false`.',
      }),
    ),
    hem: Type.Optional(
      hexDigest('Person who uses the browser: SHA-256 of the trimmed, lower-cased e-mail address.'),
    ),
    hem_source: Type.Optional(Choice(['identify', 'form'])),
    hem_signature: Type.Optional(
      hexDigest(
        'HMAC-SHA256 of the hem, made by the site’s server with the pixel’s identify secret.',
      ),
    ),
    consent: Type.Optional(
      Type.Boolean({ description: 'False: do not set a cookie and do not store an id.' }),
    ),
    client_ip: Type.Optional(
      Type.String({
        description:
          'Address of the visitor, in a beacon of a back end with a key. Otherwise ignored.',
      }),
    ),
    user_agent: Type.Optional(
      Type.String({
        description:
          'User-Agent of the visitor, in a beacon of a back end with a key. Otherwise ignored. Without it the event has ' +
          'the User-Agent of the request, and an HTTP library does not make it a bot’s (`is_bot`).',
      }),
    ),
    sent_at: Type.String({
      format: 'date-time',
      description: 'Time of the sender’s clock when it sent the beacon.',
    }),
    events: Type.Array(WebEvent, { maxItems: beaconEventsMax }),
  },
  { title: 'Beacon' },
)

const fault = {
  path: Type.String({ description: 'JSON pointer to the invalid value.' }),
  message: Type.String(),
}

const BeaconReceipt = Type.Object(
  {
    cookie_id: Type.String({ description: 'Cookie id of the stored events.' }),
    accepted: Type.Integer({
      description: 'Number of accepted members of `events`: those neither rejected nor ignored.',
    }),
    rejected: Type.Array(
      Type.Object({
        event_id: Nullable(Type.String()),
        ...itemErrorMembers(rejectedEventCodes),
      }),
    ),
    hem_rejected: Type.Optional(
      Type.Object(fault, {
        description: 'Reason why the hem was refused. The events are stored in any case.',
      }),
    ),
    vouched: Type.Optional(
      Type.Literal(true, {
        description: 'The key was valid for this pixel: `client_ip` and `user_agent` were used.',
      }),
    ),
    ignored: Type.Optional(
      Type.Integer({
        description:
          'Number of members of `events` that were not stored, because the project ignores their network, host or path. Absent if the project ignores no part of the beacon.',
      }),
    ),
    ignored_by: Type.Optional(
      Type.Array(Choice(ignoreSettings), {
        description: 'The settings of the project that ignored events or the `hem`.',
      }),
    ),
  },
  { title: 'BeaconReceipt' },
)

/** POST /e. */
export const describeBeacon = {
  tags: ['Ingest'],
  operationId: 'sendEvents',
  summary: 'Send a batch of events',
  description: `Accepts up to ${beaconBytesMax / 1024} KiB, as application/json or as text/plain, which needs no preflight in browsers.
Answers when the events are on disk. Each event is accepted, rejected with a reason, or ignored by the settings of the
project. The three add up to the number of events sent. Events of a visitor who opted out are not stored. Only a back
end with a key receives the rejection \`visitor_opted_out\`; other senders receive the same answer as for any visitor. An invalid event does not affect the others. An event sent again
with the same event_id is stored once. The script of the pixel uses a shorter format that is not part of this interface.
\`hem_rejected\` reports a refused hem: a wrong \`hem_signature\`, a missing one if the pixel requires it
(\`require_signed_identify\`), or too many unsigned ones from one network. The events are stored in any case.
An event has at most 32 levels and 5,000 members, none of them \`__proto__\`. Lone surrogates and U+0000 are stored as
U+FFFD. Integers beyond 2^53 keep their digits where any JSON is allowed. \`event_data.referrer\` of
any event becomes its \`referrer_url\`; an empty one means none.
A back end sends its own events in the same way, with the visitor's \`cookie_id\` from the cookie \`footfall_id\` of
the site. With a live key that may write in the pixel's project, in \`X-Api-Key\` and \`X-Api-Secret\`, the collector
uses \`client_ip\` and \`user_agent\`. It does not check the allowed origins, and answers \`vouched\`. Without a key, or
with a key that is invalid for this pixel, the collector uses the address and the \`User-Agent\` of the request.
Events are at most ${eventAgeDaysMax} days old with a valid key, and at most ${keylessAgeDaysMax} days without, after the correction of the sender’s clock.`,
  security: [{}, { key: [], secret: [] }],
  body: { content: { 'text/plain': { schema: Beacon }, 'application/json': { schema: Beacon } } },
  response: {
    200: {
      description: 'The events are on disk.',
      content: { 'application/json': { schema: BeaconReceipt } },
    },
  },
}

const text = (description: string) => Type.Optional(Type.String({ description }))

export const describeGif = {
  tags: ['Ingest'],
  operationId: 'sendPageView',
  summary: 'Send the page view of a browser without scripts',
  description: 'For an image in a `noscript` element.',
  querystring: Type.Object({
    pixel_id: text('The pixel.'),
    url: text('URL of the page. Default: the Referer header.'),
    title: text('Title of the page.'),
    referrer: text('Referrer of the page.'),
  }),
  response: {
    200: {
      description: 'A transparent image of one pixel.',
      content: { 'image/gif': { schema: Type.String({ format: 'binary' }) } },
    },
  },
}
