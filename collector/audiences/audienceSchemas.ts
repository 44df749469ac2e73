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

const definitionText =
  'Whom the audience is of. A node is `{ "all": [Node] }`, `{ "any": [Node] }`, `{ "not": Node }` or a leaf: ' +
  '`{ "profile": { field, op, value } }`, `{ "event": { event_type?, filter?, at_least?, within_days, pixel_id? } }`, ' +
  `\`{ "intent": { topics, match?, min_score? } }\`, \`{ "list": { list_id } }\` (whose items it names, their people or their companies), \`{ "audience": { audience_id } }\`. At most ${depthMax} deep and ${leavesMax} leaves; what is wrong is answered ` +
  '400 with its `pointer`. `GET /api/v1/audiences/schema` has all of it as JSON Schema.'

/** A definition as it is sent: checked by parse.ts, which says where what is wrong stands. */
const GivenDefinition = Type.Unsafe<unknown>({
  description: `\`{ "entity": "people" | "companies", "include": Node, "exclude"?: Node, "limit"?: integer }\`. ${definitionText}`,
})

const Entity = Type.Union([Type.Literal('people'), Type.Literal('companies')])
const Node = Type.Record(Type.String(), Type.Unknown(), { description: 'A node.' })

/** A definition as it is answered. */
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
  description: 'Days of intent history that count.',
})

const Refresh = Type.Union(
  [Type.Literal('manual'), Type.Literal('hourly'), Type.Literal('daily')],
  {
    default: 'manual',
    description:
      'When it is built anew: when it is changed or asked for, or on a schedule besides.',
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
  { description: 'Of the newest build: queued, under way, ready, or failed.' },
)

export const Meter = Type.Union([Type.Literal('audience'), Type.Literal('audience_predictive')], {
  description:
    'What its records are charged on: `audience_predictive` where a leaf asks for intent.',
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
      'Members by the greatest score, within the window, of the topics of intent leaves: low below 50, medium below 75, ' +
      'high. None where no leaf asks for intent; null where `count` is null after a build.',
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
          'Members of the build that is served. Null before the first build, and for a definition that may be of people ' +
          'whom you chose: one with a leaf `event`, `list` or `audience`, with a name, or with `intent` once your ' +
          'organization has intent rules. Charged reads return the number.',
      }),
    ),
    meter: Meter,
    build_id: Nullable(Type.String({ format: 'uuid', description: 'The build that is served.' })),
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
      'Some members, drawn at random from at least 1,000. Coarse fields have values; others are `***` where there is one.',
  }),
  estimate: Nullable(
    Type.Object(
      { count: Type.Integer(), low: Type.Integer(), high: Type.Integer() },
      {
        description:
          'How many members a build would have, and the 95 % interval; null where the `count` of such an audience would be.',
      },
    ),
  ),
  records_to_charge: Nullable(
    Type.Integer({
      description: 'What reading all of the estimate would be charged; null like it.',
    }),
  ),
  meter: Meter,
})
