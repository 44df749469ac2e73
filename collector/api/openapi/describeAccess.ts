import type { SwaggerTransform } from '@fastify/swagger'
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import { type TObject, Type } from 'typebox'
import { describeRateLimit } from '../access/rateLimits.ts'
import { isProjectScoped, projectHeader } from '../access/requestedProject.ts'
import type { Access } from '../access/routeAccess.ts'
import { answerOf, ErrorBody } from '../http/commonSchemas.ts'
import { describeConflicts } from './conflicts.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Refusals of the route in addition to those of its access and charges: descriptions by status. */
    refusals?: Readonly<Record<number, string>>
  }
}

/** Adds to each operation its security, and its refusals by access, by billing and by the route itself. */
export const describeAccess: SwaggerTransform = ({ schema, url, route }) => {
  const access = route.config?.access
  if (!access || schema?.hide) return { schema, url }
  const answers = schema?.response as Record<string, object> | undefined
  const conflicts = describeConflicts(schema?.operationId, route.config?.refusals?.[409])
  const conflict = conflicts === undefined ? {} : { 409: problem(conflicts) }
  if (access.to === 'anyone') {
    return {
      url,
      schema: { security: [], ...schema, response: { '4xx': refused, ...conflict, ...answers } },
    }
  }
  return {
    url,
    schema: {
      ...schema,
      headers: headersOf(schema, route.config),
      security: securityOf(access),
      response: {
        ...answers,
        400: problem(
          'A parameter is wrong. `error` is `invalid_parameter` or `malformed`, and `parameter` names it. `query_too_heavy`: the request exceeds the limits on time or memory; use a shorter window.',
        ),
        ...refusalsOf(access),
        ...(access.to === 'key' && chargeRefusals(access, route.config)),
        ...Object.fromEntries(
          Object.entries(route.config?.refusals ?? {}).map(([status, text]) => [
            status,
            problem(text),
          ]),
        ),
        ...conflict,
        503: problem(
          '`busy`: a database is unavailable or overloaded, or the organization has too many requests in progress. Retry after the seconds in `Retry-After`.',
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
      401: problem('`unauthenticated`: no valid session.'),
      403: problem('`forbidden`, or `cross_origin` for requests from pages of other sites.'),
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

const notThere =
  'The object does not exist or belongs to another organization. `error` names its type.'

/** The responses that billing adds to a route with charged records, or with free answers about people. */
const chargeRefusals = (
  { limit }: Extract<Access, { to: 'key' }>,
  { charged, freeAnswers }: FastifyContextConfig = {},
) => ({
  ...(charged && {
    402: problem(
      '`budget_exceeded`: the budget of the organization or of the key’s project is too small.',
    ),
  }),
  ...((charged || freeAnswers) && {
    429: problem(
      [
        `\`rate_limited\`: ${describeRateLimit(limit)}`,
        charged &&
          '`platform_cap_exceeded`: a usage limit. `kind` is `limit_reached` (succeeds after `resets_at`), `request_too_large` or `shut_off`.',
        freeAnswers &&
          '`platform_cap_exceeded` with `meter` `free_answers`: the organization received its free answers about people of this UTC day. Succeeds after `resets_at`; charged reads succeed now.',
      ]
        .filter(Boolean)
        .join(' '),
    ),
  }),
})

/** The headers of a route: its own, and those for its project and charges. */
const headersOf = (schema: FastifySchema | undefined, config: FastifyContextConfig | undefined) =>
  Type.Object({
    ...(schema?.headers as TObject | undefined)?.properties,
    ...(isProjectScoped(schema) && projectHeader),
    ...(config?.charged && idempotencyKey),
  })

const idempotencyKey = {
  'Idempotency-Key': Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        'Makes repeats of the same request free for 24 hours, for exactly the records charged with this key. The repeat reads the window of the first request. Newer records and records of another meter are charged.',
    }),
  ),
}

const problem = (description: string) => answerOf(description, ErrorBody)

const refused = problem('The request is malformed or refused. `error` contains the reason.')
