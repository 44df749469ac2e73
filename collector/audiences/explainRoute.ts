import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { access } from '../api/access/recordAccess.ts'
import { Id, Nullable, strictObject } from '../api/http/commonSchemas.ts'
import { conflict } from '../api/http/errors.ts'
import { ChargedMeta, chargedMeta } from '../billing/chargedMeta.ts'
import { admit, hashesOf, settle } from '../billing/chargedRequest.ts'
import { readSubject } from '../identity/privacy/subject.ts'
import { ById, projectParameter, recordTags } from './audienceSchemas.ts'
import type { StoredAudience } from './audiences.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { MissingReference, readUsedVersions } from './builder/usedObjects.ts'
import { meaningOf } from './definition/definition.ts'
import { parseDefinition } from './definition/parse.ts'
import { type Explanation, explain } from './explain.ts'
import { readPeopleAudience } from './peoplePage.ts'

const refusals = {
  409: '`conflict`: an audience in the definition is not built yet.',
  422: '`use_download`: the audience is of companies.',
}

const Query = strictObject({
  ...projectParameter,
  hem: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{64}$',
      description: 'SHA-256 in hex of the trimmed, lowercase address.',
    }),
  ),
  email: Type.Optional(Type.String({ format: 'email', maxLength: 254 })),
})

const Answer = Type.Object(
  {
    audience_id: Id,
    build_id: Nullable(Type.String({ format: 'uuid', description: 'The served build.' })),
    known: Type.Boolean({
      description: 'Whether the person has a profile. If not, nothing is charged.',
    }),
    in_build: Nullable(Type.Boolean({ description: 'Whether the person is in the served build.' })),
    matches: Type.Boolean({ description: 'Whether the person meets the definition now.' }),
    reason: Type.String({ description: 'The result in plain words.' }),
    leaves: Type.Array(
      Type.Object({
        pointer: Type.String({
          description: 'JSON pointer to the leaf in the definition.',
        }),
        met: Type.Boolean(),
        events: Type.Optional(
          Type.Integer({ description: 'For event leaves: how many events of the person count.' }),
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
  summary: 'Explain a membership',
  description:
    'Requires `hem` or `email`. Returns the result of each leaf now, and whether the served build contains the person. Charged as one lookup; free if the person has no profile. A repeat with the same `Idempotency-Key` is charged again if the audience, its served build or a list that it uses has changed.',
  params: ById,
  querystring: Query,
  response: { 200: Answer },
}

/** GET /api/v1/audiences/{audience_id}/explain: explains, leaf by leaf, whether a person is a member. */
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
        const parsed = parseDefinition(audience.definition)

        const admitted = await admit(billing, request, reply, {
          meter: 'lookup',
          projectId,
          recordsMax: 1,
        })

        const { signal } = admitted
        const queryExecutor = openQueryExecutor(principal, { effort: 'page', signal })
        const explanation = await explain(
          { queryExecutor, postgres, nowMs: now() },
          { organizationId, projectId },
          audience,
          parsed,
          hem,
        ).catch((error: unknown) => {
          throw error instanceof MissingReference ? conflict('invalid_state', error.message) : error
        })
        const records = explanation.isKnown ? 1 : 0

        const { charged } = await settle(admitted, {
          records,
          // A repeat after a change of the audience asks something else, so it is charged.
          hashes: async () => {
            const { build_id, intent_window_days } = audience
            const versions = await readUsedVersions(postgres, parsed)
            const question = [hem, build_id, intent_window_days, meaningOf(parsed), versions]
            return hashesOf([JSON.stringify(question)])
          },
        })

        return { ...answerOf(audience, explanation), meta: chargedMeta('lookup', records, charged) }
      },
    )
  }

const answerOf = (
  audience: StoredAudience,
  explanation: Explanation,
): Omit<Static<typeof Answer>, 'meta'> => ({
  audience_id: audience.id,
  build_id: audience.build_id,
  known: explanation.isKnown,
  in_build: explanation.isInBuild,
  matches: explanation.matches,
  reason: reasonOf(audience, explanation),
  leaves: [...explanation.leaves],
})

function reasonOf(
  { definition }: StoredAudience,
  { isKnown, isInBuild, matches }: Explanation,
): string {
  // The exact reason would reveal data of other organizations.
  if (!isKnown) return 'This person has no profile, or is hidden.'
  if (isInBuild === null)
    return matches
      ? 'The person meets the definition; no build exists yet.'
      : 'The person does not meet the definition.'
  if (isInBuild) {
    return matches
      ? 'The person is in the build and meets the definition.'
      : 'The person is in the build but no longer meets the definition. The next build excludes them.'
  }
  if (!matches) return 'The person does not meet the definition.'
  return definition.limit === undefined
    ? 'The person now meets the definition. The next build includes them.'
    : 'The person now meets the definition, but did not at the time of the build, or its limit excluded them.'
}
