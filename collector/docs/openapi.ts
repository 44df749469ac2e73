import swagger, { type SwaggerTransform } from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import type { Access } from '../access/access.ts'
import { describeRateLimit } from '../access/rateLimits.ts'
import { sessionCookie } from '../access/session.ts'
import { docsRoutes } from './routes.ts'

/**
 * GET /openapi.json, the routes' own schemas as OpenAPI 3.1, and GET /docs, the same to read. What follows from who
 * may ask (security, the errors 401, 403 and 429, the rate limit) is written here once, from `config.access`.
 */
export async function describeRoutes(app: FastifyInstance, publicUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Footfall',
        version: '0.1.0',
        description,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags,
      components: { securitySchemes: securitySchemes(publicUrl) },
    },
    transform: describeAccess,
  })
  await app.register(docsRoutes(publicUrl))
}

const description = `Web events captured by the Footfall pixel, and who they were.

Every error is \`{ "error", "message", "request_id" }\`: \`error\` is for programs and does not change, \`message\`
is for people. Records are charged when the head of their answer is sent; what the service then breaks off is given
back. 503 \`busy\` and 429 carry \`Retry-After\` in seconds; answers other than 2xx are never billed.
HEAD is answered wherever GET is, without the body; of what is charged it only checks who asks, and costs nothing.
Paths that begin with \`/v1\`, \`/v2\` or \`/v3\` are the same with \`/api\` before it. Bodies of requests are JSON,
uncompressed; answers of 1 KiB and more are compressed for who asks for it (\`zstd\`, \`br\`, \`gzip\`).
A key and its secret are made in the dashboard, at \`/{org_id}/settings/api-keys\`, and nowhere else.`

const tags = [
  { name: 'Events', description: 'Events, one row each, and their counts.' },
  { name: 'Identity', description: 'Who an address belongs to, and people by what is known of them.' },
  { name: 'Billing', description: 'What was charged, and how much may be.' },
  { name: 'Campaigns', description: 'DSP campaigns, what they did, and what is left of their budgets.' },
  { name: 'Taxonomy', description: 'What fields and their values mean; not billed.' },
  { name: 'Administration', description: 'The organization, its members, projects and pixels.' },
  { name: 'Ingest', description: 'What pages load and send to; not billed.' },
  { name: 'Dashboard', description: 'What the dashboard’s own pages ask; a session serves, a key does not.' },
  { name: 'Health', description: 'How the service is.' },
]

const securitySchemes = (publicUrl: string) =>
  ({
    key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
    secret: { type: 'apiKey', in: 'header', name: 'X-Api-Secret' },
    token: {
      type: 'http',
      scheme: 'bearer',
      description: 'Deprecated: the token of POST /auth/v1/login. On lists and campaigns also an API key.',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookie(publicUrl),
      description: 'A member signed in to the dashboard.',
    },
  }) as const

const describeAccess: SwaggerTransform = ({ schema, url, route }) => {
  const access = route.config?.access
  if (!access || access.to === 'anyone' || schema?.hide) return { schema, url }
  return {
    url,
    schema: {
      ...schema,
      ...(route.config?.charged && { headers: withIdempotencyKey(schema?.headers) }),
      security: securityOf(access),
      response: {
        ...(schema?.response as object),
        400: problem(
          'A parameter is wrong: `error` is `invalid_parameter` or `malformed`, `parameter` names it. Or ' +
            '`query_too_heavy`: there is no answer within the time and memory that one request has; take a shorter ' +
            'window.',
        ),
        ...refusalsOf(access),
        ...(route.config?.charged && access.to === 'key' && chargeRefusals(access)),
        503: problem(
          '`busy`: a database is away or has too much to do, or too many requests of the organization are under way; `Retry-After` says for how many seconds to wait.',
        ),
      },
    },
  }
}

function securityOf(access: Exclude<Access, { to: 'anyone' }>) {
  if (access.to === 'session') return [{ session: [] }]
  return [{ key: [], secret: [] }, { token: [] }, ...(access.members ? [{ session: [] }] : [])]
}

function refusalsOf(access: Exclude<Access, { to: 'anyone' }>): Record<string, object> {
  if (access.to === 'session') {
    return {
      401: problem('`unauthenticated`: nobody is signed in.'),
      403: problem('`forbidden`, or `cross_origin` for what a page of another site sends.'),
      404: problem(notThere),
    }
  }
  return {
    401: problem('`Invalid API key`, `Invalid API secret` or `API secret is required`.'),
    403: problem(
      access.projectKeys === 'refused'
        ? '`forbidden`: not available to a project-scoped API key, or the role does not allow it.'
        : '`forbidden`: the role does not allow it.',
    ),
    404: problem(notThere),
    429: problem(`\`rate_limited\`: ${describeRateLimit(access.limit)}`),
  }
}

const notThere = 'What is named does not exist, or is somebody else’s; `error` says what.'

/** What billing adds to the answers of a route whose records are charged. */
const chargeRefusals = ({ limit }: Extract<Access, { to: 'key' }>) => ({
  402: problem(
    '`budget_exceeded`: the budget of the organization, or of the key’s project, does not cover it.',
  ),
  429: problem(
    `\`rate_limited\`: ${describeRateLimit(limit)} Or \`platform_cap_exceeded\`, a usage limit: \`kind\` is ` +
      '`limit_reached` (it succeeds after `resets_at`), `request_too_large` or `shut_off`.',
  ),
})

const withIdempotencyKey = (headers: unknown) => ({
  type: 'object',
  properties: {
    ...(headers as { properties?: object } | undefined)?.properties,
    'Idempotency-Key': {
      type: 'string',
      maxLength: 255,
      description:
        'Makes a repeat of the same request free for 24 hours, for exactly the records that were charged with this ' +
        'key. The repeat reads the window of the first; records that came since, and those on another meter, are ' +
        'charged.',
    },
  },
})

const problem = (description: string) => ({
  description,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['error', 'message', 'request_id'],
        properties: {
          error: { type: 'string', description: 'For programs; never changes.' },
          message: { type: 'string', description: 'For people.' },
          request_id: { type: 'string', format: 'uuid' },
          parameter: { type: 'string', description: 'What is wrong, with 400.' },
        },
      },
    },
  },
})
