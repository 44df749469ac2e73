import { type Static, Type } from 'typebox'
import {
  Choice,
  Id,
  Nullable,
  SeenVersion,
  strictObject,
  Timestamp,
  Version,
} from '../../api/http/commonSchemas.ts'
import { NextCursor, pageQuery } from '../../api/http/pagination.ts'
import { eventTypes } from '../../platform/outbox/outbox.ts'

export const tags = ['Webhooks']

const EventTypes = Type.Array(Choice(eventTypes), {
  minItems: 1,
  maxItems: eventTypes.length,
  description: 'The event types that it receives.',
})
const Url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'Where messages are sent by POST: http(s), on the public Internet.',
})
const Description = Nullable(
  Type.String({
    maxLength: 200,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    description: 'A label for people.',
  }),
)

export const Webhook = Type.Object(
  {
    id: Id,
    project_id: Nullable(Type.String({ format: 'uuid' }), {
      description: 'The project of its events. Null: the organization and all of its projects.',
    }),
    description: Description,
    url: Type.String(),
    event_types: Type.Array(Choice(eventTypes)),
    enabled: Type.Boolean(),
    disabled_reason: Nullable(Choice(['failing', 'gone']), {
      description:
        'Why the service turned it off: all attempts of five days failed, or the receiver answered 410. Null if it is on.',
    }),
    disabled_at: Nullable(Timestamp),
    failing_since: Nullable(Timestamp, {
      description: 'Time since which all attempts fail. Null while it works.',
    }),
    former_secret_until: Nullable(Timestamp, {
      description: 'Until then, messages are also signed with the previous secret.',
    }),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Webhook' },
)
export type Webhook = Static<typeof Webhook>

const statuses = ['pending', 'delivered', 'failed'] as const

export const Delivery = Type.Object(
  {
    id: Id,
    message_id: Type.String({
      description: 'The header `webhook-id`, which is the same in all attempts and replays.',
    }),
    type: Type.String({ description: 'The type of the event; `webhook.test` for a test.' }),
    status: Choice(statuses, {
      description: 'Waiting for an attempt, delivered, or failed permanently.',
    }),
    attempts: Type.Integer(),
    last_attempt_at: Nullable(Timestamp),
    next_attempt_at: Nullable(Timestamp),
    response_status: Nullable(
      Type.Integer({ description: 'Status of the last attempt. Null without an answer.' }),
    ),
    response_body: Nullable(Type.String({ description: 'The first 1,024 bytes of that answer.' })),
    error: Nullable(Type.String({ description: 'Why the last attempt failed.' })),
    created_at: Timestamp,
  },
  { title: 'WebhookDelivery' },
)
export type Delivery = Static<typeof Delivery>

export const One = Type.Object({ webhook: Webhook })
export const WithSecret = Type.Object({
  webhook: Webhook,
  secret: Type.String({
    description: 'The secret that signs messages: `whsec_…`. It is shown only once.',
  }),
})
export const Page = Type.Object({ webhooks: Type.Array(Webhook), next_cursor: NextCursor })
export const OneDelivery = Type.Object({ delivery: Delivery })
export const Deliveries = Type.Object({ deliveries: Type.Array(Delivery), next_cursor: NextCursor })

const project = { project_id: Type.Optional(Id) }
export const ById = strictObject({ webhook_id: Type.String() })
export const DeliveryById = strictObject({ webhook_id: Type.String(), delivery_id: Type.String() })
export const ProjectQuery = strictObject(project)
export const ListQuery = strictObject({ ...project, ...pageQuery })
export const DeliveriesQuery = strictObject({
  ...project,
  status: Type.Optional(Choice(statuses)),
  ...pageQuery,
})

export const NewWebhook = strictObject({
  project_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Omitted: the entire organization, or the project of the key.',
    }),
  ),
  url: Url,
  event_types: EventTypes,
  description: Type.Optional(Description),
  enabled: Type.Optional(Type.Boolean({ default: true })),
})

export const WebhookChange = strictObject({
  url: Type.Optional(Url),
  event_types: Type.Optional(EventTypes),
  description: Type.Optional(Description),
  enabled: Type.Optional(Type.Boolean()),
  version: SeenVersion,
})

export const Replay = strictObject({
  since: Type.String({
    format: 'date-time',
    description: 'Failed deliveries of messages since then.',
  }),
})
export const Replayed = Type.Object({
  replayed: Type.Integer({ description: 'Deliveries that are tried again.' }),
})
