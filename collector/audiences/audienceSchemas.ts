import { Type } from 'typebox'
import {
  Id,
  Name,
  Nullable,
  SeenVersion,
  strictObject,
  Timestamp,
  Version,
} from '../api/http/commonSchemas.ts'
import { NextCursor, pageQuery } from '../api/http/pagination.ts'
import { depthMax, leavesMax } from './definition/definition.ts'

export const tags = ['Audiences']
export const recordTags = ['Audience records']

const definitionText = `The definition. A node is \`{ "all": [Node] }\`, \`{ "any": [Node] }\`, \`{ "not": Node }\` or a leaf. Leaves: \`{ "profile": { field, op, value } }\`, \`{ "event": { event_type?, filter?, at_least?, within_days, pixel_id? } }\`, \`{ "intent": { topics, match?, min_score? } }\`, \`{ "list": { list_id } }\` (its people or companies), \`{ "audience": { audience_id } }\`. At most ${depthMax} levels and ${leavesMax} leaves. Errors are 400 with a \`pointer\` into the definition. \`GET /api/v1/audiences/schema\` returns the JSON Schema.`

/** A definition in a request; parse.ts checks it and reports the place of a fault. */
const GivenDefinition = Type.Unsafe<unknown>({
  description: `\`{ "entity": "people" | "companies", "include": Node, "exclude"?: Node, "limit"?: integer }\`. ${definitionText}`,
})

const Entity = Type.Union([Type.Literal('people'), Type.Literal('companies')])
const Node = Type.Record(Type.String(), Type.Unknown(), { description: 'A node.' })

/** A definition in a response. */
export const Definition = Type.Object(
  {
    entity: Entity,
    include: Node,
    exclude: Type.Optional(Node),
    limit: Type.Optional(Type.Integer()),
  },
  { title: 'AudienceDefinition', description: definitionText },
)

const WindowDays = Type.Integer({
  minimum: 1,
  maximum: 365,
  default: 30,
  description: 'Days of intent history to use.',
})

const Refresh = Type.Union(
  [Type.Literal('manual'), Type.Literal('hourly'), Type.Literal('daily')],
  {
    default: 'manual',
    description: 'When it is rebuilt: only after changes and on request, or also on a schedule.',
  },
)

/** Spec: Audience task status. */
export const Status = Type.Union(
  [
    Type.Literal('pending'),
    Type.Literal('unloading'),
    Type.Literal('completed'),
    Type.Literal('failed'),
  ],
  { description: 'Status of the newest build.' },
)

export const Meter = Type.Union([Type.Literal('audience'), Type.Literal('audience_predictive')], {
  description: 'The meter of its records: `audience_predictive` if a leaf uses intent.',
})

/** Spec: Audience intent window. */
const BucketCounts = Type.Object(
  {
    low: Nullable(Type.Integer()),
    medium: Nullable(Type.Integer()),
    high: Nullable(Type.Integer()),
  },
  {
    description:
      'Members by their highest score in the topics of the intent leaves: low below 50, medium below 75, high above. Absent without intent leaves; null if `count` is null after a build.',
  },
)

export const Audience = Type.Object(
  {
    id: Id,
    project_id: Id,
    name: Type.String(),
    entity: Entity,
    definition: Definition,
    intent_window_days: Type.Integer(),
    refresh: Refresh,
    status: Status,
    bucket_counts: BucketCounts,
    count: Nullable(
      Type.Integer({
        description:
          'Members of the served build. Null before the first build, and if the count is billed. It is billed for definitions with `event`, `list` or `audience` leaves or with a name. It is also billed for definitions with `intent` if the organization has intent rules, and if the conditions could describe fewer than 25 people. Billed reads return the count.',
      }),
    ),
    meter: Meter,
    build_id: Nullable(Type.String({ format: 'uuid', description: 'The served build.' })),
    built_at: Nullable(Timestamp),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Audience' },
)

export const One = Type.Object({ audience: Audience })
export const Page = Type.Object({ audiences: Type.Array(Audience), next_cursor: NextCursor })

export const projectParameter = {
  project_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'The project; or the header X-Project-Id.' }),
  ),
}

export const ById = strictObject({ audience_id: Type.String() })
export const ProjectQuery = strictObject(projectParameter)
export const ListQuery = strictObject({ ...projectParameter, ...pageQuery })

export const NewAudience = strictObject({
  ...projectParameter,
  name: Name,
  definition: GivenDefinition,
  intent_window_days: Type.Optional(WindowDays),
  refresh: Type.Optional(Refresh),
})

export const AudienceChange = strictObject({
  name: Type.Optional(Name),
  definition: Type.Optional(GivenDefinition),
  intent_window_days: Type.Optional(WindowDays),
  refresh: Type.Optional(Refresh),
  version: SeenVersion,
})

export const Clone = strictObject(
  { ...projectParameter, name: Type.Optional(Name) },
  { default: {} },
)

export const SampleOf = strictObject({
  ...projectParameter,
  definition: GivenDefinition,
  intent_window_days: Type.Optional(WindowDays),
})

export const SampleAnswer = Type.Object({
  sample: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    description:
      'A random sample of at least 1,000 members. Coarse fields have values; other known fields are `***`.',
  }),
  estimate: Nullable(
    Type.Object(
      { count: Type.Integer(), low: Type.Integer(), high: Type.Integer() },
      {
        description:
          'Estimated members of a build with the 95 % interval. Null if `count` would be null.',
      },
    ),
  ),
  records_to_charge: Nullable(
    Type.Integer({
      description: 'Estimated charge for reading all members. Null if the estimate is null.',
    }),
  ),
  meter: Meter,
})
