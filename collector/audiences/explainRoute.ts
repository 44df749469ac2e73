import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { access } from '../api/access/recordAccess.ts'
import { Id, Nullable, strictObject } from '../api/http/commonSchemas.ts'
import { conflict } from '../api/http/errors.ts'
import { ChargedMeta, chargedMeta } from '../billing/chargedMeta.ts'
import { admit, hashesOf, settle } from '../billing/chargedRequest.ts'
import { readSubject } from '../identity/privacy/subject.ts'
import { ById, projectParameter, recordTags } from './audienceSchemas.ts'
import type { Audience } from './audiences.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { AudienceNotBuilt } from './builder/usedBuilds.ts'
import { parseDefinition } from './definition/parse.ts'
import { type Explanation, explain } from './explain.ts'
import { readPeopleAudience } from './peoplePage.ts'

const refusals = {
  409: '`conflict`: an audience that the definition names is not built yet.',
  422: '`use_download`: the audience is of companies.',
}

const Query = strictObject({
  ...projectParameter,
  hem: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{64}$',
      description: 'SHA-256, hex, of the trimmed, lower-cased address.',
    }),
  ),
  email: Type.Optional(Type.String({ format: 'email', maxLength: 254 })),
})

const Answer = Type.Object(
  {
    audience_id: Id,
    build_id: Nullable(Type.String({ format: 'uuid', description: 'The build that is served.' })),
    known: Type.Boolean({
      description: 'Whether anything is known of the person; if not, nothing was charged.',
    }),
    in_build: Nullable(Type.Boolean({ description: 'Whether they are in that build.' })),
    matches: Type.Boolean({ description: 'Whether they meet the definition as of now.' }),
    reason: Type.String({ description: 'The two together, for people.' }),
    leaves: Type.Array(
      Type.Object({
        pointer: Type.String({
          description: 'Where the leaf stands in the definition, as a JSON pointer.',
        }),
        met: Type.Boolean(),
        events: Type.Optional(
          Type.Integer({ description: 'Of an event leaf: how many events of theirs it counts.' }),
        ),
      }),
    ),
    meta: ChargedMeta,
  },
  { title: 'AudienceExplanation' },
)

const describeExplain = {
  tags: recordTags,
  operationId: 'explainAudience',
  summary: 'Explain why a person is in an audience or not',
  description:
    'Give hem or email. Evaluated as of now, beside the build that is served. Charged as one lookup; nothing ' +
    'for somebody of whom nothing is known.',
  params: ById,
  querystring: Query,
  response: { 200: Answer },
}

/** GET /api/v1/audiences/{audience_id}/explain: leaf by leaf, whether a person is in, and why. */
export const explainRoute =
  (deps: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, billing, openQueryExecutor, now } = deps

    app.get(
      '/api/v1/audiences/:audience_id/explain',
      {
        config: { access, charged: true, refusals },
        schema: describeExplain,
      },
      async (request, reply) => {
        const { principal, query } = request
        const { organizationId } = principal
        const hem = readSubject({ hem: query.hem, email: query.email }).hem!
        const { audience, projectId } = await readPeopleAudience(postgres, request)

        const charge = await admit(billing, request, reply, {
          meter: 'lookup',
          projectId,
          recordsMax: 1,
        })

        const { signal } = charge
        const queryExecutor = openQueryExecutor(principal, { effort: 'page', signal })
        const found = await explain(
          { queryExecutor, postgres, nowMs: now() },
          { organizationId, projectId },
          audience,
          parseDefinition(audience.definition),
          hem,
        ).catch((error: unknown) => {
          throw error instanceof AudienceNotBuilt ? conflict('invalid_state', error.message) : error
        })
        const records = found.isKnown ? 1 : 0

        const { charged } = await settle(charge, { records, hashes: () => hashesOf([hem]) })

        return { ...answerOf(audience, found), meta: chargedMeta('lookup', records, charged) }
      },
    )
  }

const answerOf = (audience: Audience, found: Explanation): Omit<Static<typeof Answer>, 'meta'> => ({
  audience_id: audience.id,
  build_id: audience.build_id,
  known: found.isKnown,
  in_build: found.isInBuild,
  matches: found.matches,
  reason: reasonOf(audience, found),
  leaves: [...found.leaves],
})

function reasonOf({ definition }: Audience, { isKnown, isInBuild, matches }: Explanation): string {
  // Which of the two it is would tell of other organizations.
  if (!isKnown) return 'Nothing is known of this person, or they may not be shown.'
  if (isInBuild === null)
    return matches
      ? 'They meet the definition; nothing is built yet.'
      : 'They do not meet the definition.'
  if (isInBuild) {
    return matches
      ? 'They are in the build and meet the definition.'
      : 'They were in when it was built and do not meet the definition any more: the next build leaves them out.'
  }
  if (!matches) return 'They do not meet the definition.'
  return definition.limit === undefined
    ? 'They meet the definition now and did not when it was built: the next build has them.'
    : 'They meet the definition now: they did not when it was built, or its limit left them out.'
}
