import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { Nullable, SeenVersion, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { requireVersion } from '../../api/http/optimisticLock.ts'
import { rejectUnstorableText } from '../../api/http/rejectUnstorableText.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import type { ReadDeps } from '../../events/query/readDeps.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { type Rules, readRules, replaceRules, rulePatterns, rulesMax } from '../signals/rules.ts'
import { requireTopics } from '../signals/topics.ts'
import { access, TopicId, tags } from './intentSchemas.ts'

const pattern = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 500, description }))

const Rule = Type.Object(
  {
    topic: TopicId,
    host: pattern('Pattern for the host of a viewed page.'),
    path: pattern('Pattern for the path.'),
    title: pattern('Pattern for the title.'),
    search: pattern('Pattern for site searches. The event is then the search.'),
  },
  {
    title: 'IntentRule',
    additionalProperties: false,
    description:
      'An event that meets all patterns is a signal on the topic, with full strength. Patterns have the syntax of the operator `like` (% and _, escaped by a backslash), case-insensitive. At least one pattern is required.',
  },
)

const Answer = Type.Object(
  {
    rules: Type.Array(Rule),
    version: Type.Integer({
      description: 'Increases with each change; 0 if rules were never set.',
    }),
    updated_at: Nullable(Timestamp),
  },
  { title: 'IntentRules' },
)

/** GET and PUT /api/v1/intent/rules: assign the organization's own events to topics. */
export const rulesRoutes =
  ({ postgres, openQueryExecutor }: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.addHook('preValidation', rejectUnstorableText)
    const path = '/api/v1/intent/rules'

    app.get(
      path,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getIntentRules',
          summary: 'Get the intent rules',
          description:
            'Returns the rules that assign topics to the organization’s own events. Other organizations do not see these signals.',
          response: { 200: Answer },
        },
      },
      async ({ principal }) => publicRules(await readRules(postgres, principal.organizationId)),
    )

    app.put(
      path,
      {
        // Rules belong to the organization, so a key of one project must not change them.
        config: { access: { ...access, projectKeys: 'refused', keyRole: 'write' } },
        schema: {
          tags,
          operationId: 'setIntentRules',
          summary: 'Replace the intent rules',
          description:
            'Requires the owner or admin role. Replaces all rules, also for earlier events. New counts are available within ten minutes.',
          body: strictObject({
            rules: Type.Array(Rule, { maxItems: rulesMax }),
            version: SeenVersion,
          }),
          response: { 200: Answer },
        },
      },
      async (request, reply) => {
        const { principal, body } = request
        const { organizationId } = principal
        requirePatterns(body.rules)
        const { clickhouse } = openQueryExecutor(principal, {
          effort: 'page',
          signal: untilClosed(reply),
        })
        await requireTopics(clickhouse, 'rules', [...new Set(body.rules.map(({ topic }) => topic))])
        return inTransaction(postgres, async (client) => {
          await client.query(
            'SELECT FROM organizations WHERE organization_id = $1 FOR NO KEY UPDATE',
            [organizationId],
          )
          const before = await readRules(client, organizationId)
          requireVersion('intent_rules', publicRules(before), body.version)
          const rules = await replaceRules(client, organizationId, body.rules)
          await audit(client, principal, 'intent_rules.replaced', {
            kind: 'organization',
            id: organizationId,
          })
          return publicRules(rules)
        })
      },
    )
  }

function requirePatterns(rules: readonly Static<typeof Rule>[]): void {
  const empty = rules.findIndex((rule) => rulePatterns.every((name) => rule[name] === undefined))
  if (empty >= 0) {
    throw invalidParameter(`rules[${empty}]`, `requires at least one of ${rulePatterns.join(', ')}`)
  }
}

const publicRules = ({ rules, version, updated_at }: Rules): Static<typeof Answer> => ({
  rules: [...rules],
  version,
  updated_at: updated_at?.toISOString() ?? null,
})
