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

/** When the free numbers of a build are null. */
export const withoutAllowance =
  'if the free answers of the organization were used up when it was built: then until midnight UTC or until its records are read'

/** Spec: Audience intent window. */
const BucketCounts = Type.Object(
  {
    low: Nullable(Type.Integer()),
    medium: Nullable(Type.Integer()),
    high: Nullable(Type.Integer()),
  },
  {
    description:
      'These members by their highest score in the topics of the intent leaves when the build was made. Low is below 50, medium below 75. 0 without intent leaves; null if `count` is null after a build.',
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
        description: `Members of the served build who may be shown now: without people who opted out or were erased since. Null before the first build, and ${withoutAllowance}.`,
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
      'Masked rows of at most 25 members, the same ones all day (UTC). Every field is there. Names, addresses, ids and other contact data are `***`; years, ages and amounts are rounded down.',
  }),
  estimate: Type.Object({
    count: Type.Integer({
      description: 'The exact number of members that a build would have now.',
    }),
  }),
  records_to_charge: Type.Integer({
    description: 'Records that reading all members would charge.',
  }),
  meter: Meter,
})
