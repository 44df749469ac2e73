import { type TSchema, Type } from 'typebox'
import { companyFields } from '../../../schemas/fields.ts'
import type { Access } from '../../api/access/routeAccess.ts'
import { Choice, Day, strictObject } from '../../api/http/commonSchemas.ts'
import { NextCursor } from '../../api/http/pagination.ts'
import { selectableRow } from '../../api/http/rowSchemas.ts'
import { ProfileFilter } from '../../events/query/profiles/profileFilter.ts'
import { Person, SelectOfPerson } from '../../identity/store/personSchemas.ts'
import { freeRowsMax } from '../sample/mask.ts'
import { windowDaysDefault, windowDaysMax } from '../signals/interestPlan.ts'
import { DryRun } from './dryRun.ts'

export const tags = ['Intent']

export const limitOf = { default: 100, max: 1_000 } as const
const topicsMax = 25
/** Longest cursor: the domain of a company. */
const cursorCharsMax = 1_024

export const TopicId = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The id of a topic. `GET /api/v1/taxonomy/topics` lists them.',
})
export const TopicIds = Type.Array(TopicId, { minItems: 1, maxItems: topicsMax })

export const IntentWindowDays = Type.Integer({
  minimum: 1,
  maximum: windowDaysMax,
  default: windowDaysDefault,
  description:
    'Length of the window in days, ending today (UTC). It is compared with the twelve weeks before it.',
})

const discovery = {
  min_score: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100, default: 0, description: 'Minimum score.' }),
  ),
  intent_window_days: Type.Optional(IntentWindowDays),
  filter: Type.Optional(ProfileFilter),
  audience_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Only members of this audience of the organization.',
    }),
  ),
  project_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'The project of `audience_id`. Intent data itself belongs to no project.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limitOf.max,
      default: limitOf.default,
      description: 'Maximum number of records per page; 25 for previews.',
    }),
  ),
  dry_run: DryRun,
}
const SelectOfCompany = Type.String({
  description: 'Comma-separated company fields. Default: all.',
})
const selects = { people: SelectOfPerson, companies: SelectOfCompany }
const cursor = Type.Optional(
  Type.String({
    maxLength: cursorCharsMax,
    description: '`next_cursor` of the previous page, with the same request.',
  }),
)
const one = { topic: TopicId }
const several = {
  topics: TopicIds,
  match: Type.Optional(
    Choice(['any', 'all'], {
      default: 'any',
      description:
        'any: interested in at least one topic; the score is the highest. all: interested in each topic; the score is the lowest.',
    }),
  ),
}

export const bodyOf = {
  people: strictObject({ ...one, ...discovery, select: Type.Optional(selects.people), cursor }),
  companies: strictObject({
    ...one,
    ...discovery,
    select: Type.Optional(selects.companies),
    cursor,
  }),
}
export const multiBodyOf = {
  people: strictObject({ ...several, ...discovery, select: Type.Optional(selects.people), cursor }),
  companies: strictObject({
    ...several,
    ...discovery,
    select: Type.Optional(selects.companies),
    cursor,
  }),
}
/** Previews have no further pages. */
export const previewBodyOf = {
  people: strictObject({ ...one, ...discovery, select: Type.Optional(selects.people) }),
  companies: strictObject({ ...one, ...discovery, select: Type.Optional(selects.companies) }),
}
export const multiPreviewBodyOf = {
  people: strictObject({ ...several, ...discovery, select: Type.Optional(selects.people) }),
  companies: strictObject({ ...several, ...discovery, select: Type.Optional(selects.companies) }),
}

export const TopicInterest = Type.Object(
  {
    topic: Type.String(),
    score: Type.Integer({
      minimum: 0,
      maximum: 100,
      description:
        'How much the weighted signals of the window (w) exceed the number expected from the twelve weeks before it (e): 100 × w ÷ (w + e + 1). A single full signal without earlier ones scores 50.',
    }),
    signals: Type.Integer({ description: 'Signals within the window.' }),
    last_seen: Day,
  },
  { title: 'TopicInterest', description: 'Interest in one topic.' },
)
const score = Type.Integer({
  description: 'The highest score of the topics; with `match: all` the lowest.',
})
const topics = Type.Array(TopicInterest, {
  description: 'The requested topics, strongest first.',
})

/** A company has every field, null if unknown, or the selected ones. */
const IntentCompany = selectableRow({
  title: 'IntentCompany',
  fields: companyFields,
  always: companyFields,
  description: 'Company profile. Null if unknown.',
})
const recordOf = {
  people: Type.Object({ person: Person, score, topics }, { title: 'InterestedPerson' }),
  companies: Type.Object({ company: IntentCompany, score, topics }, { title: 'InterestedCompany' }),
}

const meta = {
  topics: Type.Array(Type.String()),
  intent_window_days: Type.Integer(),
  start_date: Day,
  end_date: Day,
}

export const pageOf = {
  people: pageSchema(recordOf.people),
  companies: pageSchema(recordOf.companies),
}

function pageSchema(record: TSchema) {
  return Type.Object({
    results: Type.Array(record),
    count: Type.Integer({ description: 'Records of the page. Each is charged.' }),
    next_cursor: NextCursor,
    meta: Type.Object({ ...meta, charged: Type.Integer({ description: 'Records charged.' }) }),
  })
}

const Masked = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Every field, masked: addresses, names, handles and ids only show that they have a value, and exact values are decades or bands.',
})
export const previewOf = {
  people: previewSchema(
    Type.Object({ person: Masked, score, topics }, { title: 'PreviewedPerson' }),
  ),
  companies: previewSchema(
    Type.Object({ company: Masked, score, topics }, { title: 'PreviewedCompany' }),
  ),
}

function previewSchema(record: TSchema) {
  return Type.Object({
    results: Type.Array(record, { maxItems: freeRowsMax }),
    count: Type.Integer({ description: 'The exact number of all matching records.' }),
    total: Type.Integer({ description: 'The same as `count`.' }),
    meta: Type.Object(meta),
  })
}

/** Intent data belongs to no project, so keys of a project read it like keys of the organization. */
export const access = {
  to: 'key',
  projectKeys: 'as organization',
  keyRole: 'read',
  limit: 'intent',
} as const satisfies Access

/** Access to the free routes: also owners and admins who are signed in to the dashboard. */
export const freeAccess = { ...access, members: 'admins' } as const satisfies Access

export const previewAccess = { ...freeAccess, limit: 'intent_preview' } as const satisfies Access
