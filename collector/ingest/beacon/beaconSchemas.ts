import { Type } from 'typebox'
import { beaconBytesMax, rejectedEventCodes } from '../../../schemas/beacon.ts'
import { type EventType, eventDataSchemas, eventTypes } from '../../../schemas/events/index.ts'
import { ignoreSettings } from '../../../schemas/ignored.ts'
import { Choice, Id, Nullable } from '../../api/http/commonSchemas.ts'
import { itemErrorMembers } from '../../api/http/itemErrors.ts'
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
          description: 'Sent again, the event is stored once.',
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

/** What `POST /e` takes, as documented; parseBeacon checks it, and validateEvent its events one by one. */
const Beacon = Type.Object(
  {
    pixel_id: Id,
    cookie_id: Type.Optional(
      Nullable(Id, {
        description:
          'The browser, where it has no cookie of the collector. Null: as consent false.',
      }),
    ),
    hem: Type.Optional(
      hexDigest('Whose browser it is: SHA-256 of the trimmed, lower-cased e-mail address.'),
    ),
    hem_source: Type.Optional(Choice(['identify', 'form'])),
    hem_signature: Type.Optional(
      hexDigest(
        'HMAC-SHA256 of the hem, made by the site’s server with the pixel’s identify secret.',
      ),
    ),
    consent: Type.Optional(Type.Boolean({ description: 'False: set no cookie, keep no id.' })),
    client_ip: Type.Optional(
      Type.String({
        description:
          'The visitor’s address, of a back end’s beacon with a key; else it is not read.',
      }),
    ),
    user_agent: Type.Optional(
      Type.String({
        description:
          'The visitor’s User-Agent, of a back end’s beacon with a key; else it is not read. Without it the event has ' +
          'the User-Agent of the request. HTTP libraries count as bots (`is_bot`), which figures exclude.',
      }),
    ),
    sent_at: Type.String({ format: 'date-time', description: 'The sender’s clock when it sent.' }),
    events: Type.Array(WebEvent, { maxItems: beaconEventsMax }),
  },
  { title: 'Beacon' },
)

const fault = {
  path: Type.String({ description: 'JSON pointer to what is wrong.' }),
  message: Type.String(),
}

const BeaconReceipt = Type.Object(
  {
    cookie_id: Type.String({ description: 'The id that the events were stored under.' }),
    accepted: Type.Integer({
      description:
        'How many members of `events` were accepted: all that were neither rejected nor ignored.',
    }),
    rejected: Type.Array(
      Type.Object({
        event_id: Nullable(Type.String()),
        ...itemErrorMembers(rejectedEventCodes),
      }),
    ),
    hem_rejected: Type.Optional(
      Type.Object(fault, {
        description: 'Why the hem was refused; the events count all the same.',
      }),
    ),
    vouched: Type.Optional(
      Type.Literal(true, {
        description: 'The key was good for this pixel: `client_ip` and `user_agent` were taken.',
      }),
    ),
    ignored: Type.Optional(
      Type.Integer({
        description:
          'How many members of `events` were not stored because the project ignores their network, host or path. Absent if the project ignores no part of the beacon.',
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
  description: `At most ${beaconBytesMax / 1024} KiB, as text/plain, which spares browsers the preflight, or as application/json.
Answered when the events are on disk. Each event is accepted, rejected with a reason, or ignored because the project
ignores its network, host or path; the three add up to the number of events sent. A
bad event never costs its neighbours theirs. The same event_id sent again is stored once. What the pixel's own script sends
is shorter, and no part of this interface.

A wrong \`hem_signature\`, a missing one where the pixel's setting \`require_signed_identify\` asks for it, and too many
unsigned ones from one network address are refused: \`hem_rejected\` says so, and the events count all the same.

An event may be 32 levels deep and have 5,000 members in all, none of them \`__proto__\`. Half surrogate pairs and
U+0000 are stored as U+FFFD; integers beyond 2^53 keep their digits where any JSON may stand. \`event_data.referrer\` of
any event is its \`referrer_url\`.

A back end sends what no page sees in the same way, with the visitor's \`cookie_id\` (the site's cookie \`footfall_id\`).
With a live key that may write in the pixel's project, in \`X-Api-Key\` and \`X-Api-Secret\`, the visitor is whom
\`client_ip\` and \`user_agent\` tell, the pixel's allowed origins are not asked, and the answer says \`vouched\`. Without
one, or with one that is not good for this pixel, the beacon is taken as a page's is: from the request's own address and
\`User-Agent\`.`,
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

/** GET /e.gif. */
export const describeGif = {
  tags: ['Ingest'],
  operationId: 'sendPageView',
  summary: 'Send the page view of a browser without scripts',
  description: 'For an image in a `noscript` element.',
  querystring: Type.Object({
    pixel_id: text('The pixel.'),
    url: text('The page; default: the Referer header.'),
    title: text('Its title.'),
    referrer: text('Where the visitor came from.'),
  }),
  response: {
    200: {
      description: 'One transparent pixel.',
      content: { 'image/gif': { schema: Type.String({ format: 'binary' }) } },
    },
  },
}
