import { type Static, Type } from 'typebox'
import { type Tier, tiers } from '../../../schemas/fields.ts'
import { ChatUrl, MemberIds } from '../../analytics/alerts/alertChannels.ts'
import {
  Choice,
  Id,
  Name,
  Nullable,
  SeenVersion,
  strictObject,
  Timestamp,
  Version,
} from '../../api/http/commonSchemas.ts'

export const tags = ['Visit alerts']

/** Most rules of a project, because each is matched against every new visit. */
export const visitAlertsMax = 50

const kinds = ['person', 'company', 'profile', 'audience'] as const

const alertTiers = tiers.filter((tier): tier is Exclude<Tier, 'web_event'> => tier !== 'web_event')

const matchMembers = {
  kind: Choice(kinds, {
    description:
      '`person`: the person with `hem`. `company`: people of `company_domain`. `profile`: visits that match `filter`. `audience`: members of the served build of `audience_id`, people or companies.',
  }),
  company_domain: Type.Optional(
    Type.String({ minLength: 1, maxLength: 253, description: 'For `company`: `acme.example`.' }),
  ),
  filter: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      description:
        'For `profile`: the filter of the tier routes, without session fields. Only fields of the tier are allowed.',
    }),
  ),
  audience_id: Type.Optional({ ...Id, description: 'For `audience`: an audience of the project.' }),
}

export const Match = strictObject(
  {
    ...matchMembers,
    hem: Type.Optional(
      Type.String({ description: 'For `person`: the hashed email of the person.' }),
    ),
  },
  { title: 'VisitMatch' },
)
export type Match = Static<typeof Match>

const MatchInput = strictObject({
  ...matchMembers,
  person: Type.Optional(
    Type.String({
      minLength: 3,
      maxLength: 254,
      description:
        'For `person`: an email address, or its SHA-256 as 64 hexadecimal digits. Footfall stores only the hash.',
    }),
  ),
})
export type MatchInput = Static<typeof MatchInput>

const fields = {
  name: Name,
  tier: Choice(alertTiers, {
    description:
      'The identity data of the message. Each verified person is charged once a day on the meter of this tier. `company` and `audience` require `resolution_full_profile`.',
  }),
  active: Type.Boolean({ description: 'Whether visits are matched.' }),
  unverified_charges_max: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    description:
      'The number of unverified visitors a UTC day that are charged, and reported with identity data like verified ones. 0: none are charged.',
  }),
  member_ids: {
    ...MemberIds,
    description: 'The members who get a mail. Each must be allowed to see identities.',
  },
}

export const VisitAlertInput = strictObject({
  project_id: Id,
  ...fields,
  match: MatchInput,
  active: Type.Optional({ ...fields.active, default: true }),
  unverified_charges_max: Type.Optional({ ...fields.unverified_charges_max, default: 0 }),
  member_ids: Type.Optional({ ...fields.member_ids, default: [] }),
  chat_url: ChatUrl,
})
export type VisitAlertInput = Static<typeof VisitAlertInput>
export const VisitAlertChange = strictObject({
  ...Type.Partial(Type.Object({ ...fields, match: MatchInput })).properties,
  chat_url: ChatUrl,
  version: SeenVersion,
})
export type VisitAlertChange = Static<typeof VisitAlertChange>

export const VisitAlert = Type.Object(
  {
    visit_alert_id: Id,
    project_id: Id,
    ...fields,
    match: Match,
    has_chat_url: Type.Boolean(),
    paused_by: Nullable(Choice(['budget_exceeded', 'platform_cap_exceeded']), {
      description:
        'Why no charged message is sent now: the budget or a usage limit does not cover one more record. Null: messages are sent.',
    }),
    matched_7_days: Type.Object(
      {
        verified: Type.Integer({
          description:
            'People whose link to the browser is verified: signed by your server, loaded, or of the operator’s graph.',
        }),
        unverified: Type.Integer({
          description:
            'People named only by unsigned `identify` calls or forms, which anybody can send.',
        }),
      },
      {
        title: 'VisitMatches',
        description:
          'The people that matched today and in the six UTC days before, each counted once a day. Visits without a message count too.',
      },
    ),
    last_sent_at: Nullable(Timestamp),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'VisitAlert' },
)
export type VisitAlert = Static<typeof VisitAlert>
