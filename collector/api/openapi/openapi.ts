import { STATUS_CODES } from 'node:http'
import swagger, { type SwaggerTransformObject } from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { packageVersion } from '../../platform/paths.ts'
import { sessionCookie } from '../access/session.ts'
import { describeAccess } from './describeAccess.ts'
import type { Document } from './document.ts'
import { openapiRoute } from './openapiRoute.ts'

/**
 * Describes all routes as OpenAPI 3.1 at GET /openapi.json. `describeAccess.ts` adds security, rate limits and the
 * errors 401, 403 and 429 to each of them.
 */
export async function describeRoutes(app: FastifyInstance, publicUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Footfall',
        version: packageVersion,
        description,
        contact: { name: 'Footfall', url: publicUrl },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl }],
      tags,
      components: { securitySchemes: securitySchemes(publicUrl) },
    },
    transform: describeAccess,
    transformObject: nameStatuses,
  })
  await app.register(openapiRoute)
}

const description = `Web events that the Footfall pixel captured, and the people behind them.

**Errors.** Every error is \`{ "error", "code", "message", "request_id" }\`. \`error\` and \`code\` never change; \`message\` is for
people. Answers other than 2xx are never billed. 503 \`busy\` and 429 have the seconds to wait in \`Retry-After\`.

**Billing.** The service charges records when it sends the head of an answer, and refunds records that it fails to deliver.
On billed routes, \`HEAD\` only authenticates and is free. Every \`GET\` route also answers \`HEAD\`.

**Requests.** Paths that begin with \`/v1\`, \`/v2\` or \`/v3\` work with and without the prefix \`/api\`. Request bodies are uncompressed JSON.
Answers of 1 KiB and more are compressed on request (\`zstd\`, \`br\`, \`gzip\`).

**Client.** \`footfall-client\` for Node.js and browsers handles pages, waits, retries and types. Its methods have the names of the
operations here.

**Test keys.** With a test key, every answer has \`X-Svc-Mode: test\`, contains sample data and is free. Writes are simulated: they are
validated and answered as with a live key, but nothing is stored, mailed or sent. A created record has the id of a sample
record if the sample has one; reading it returns the sample record. Other created ids return 404.

Create keys and secrets in the dashboard, at \`/{org_id}/settings/api-keys\`.`

const tags = [
  { name: 'Events', description: 'Events and their counts. Events are billed.' },
  {
    name: 'Events, versions 1 and 2',
    description: 'Earlier versions of the events routes. Use version 3 for new programs.',
  },
  {
    name: 'Analytics',
    description: 'Aggregated figures: visitors, sessions, pages and sources. Not billed.',
  },
  {
    name: 'Conversions and journeys',
    description:
      'What visitors do one after the other: goals, funnels, paths, returns. Not billed.',
  },
  {
    name: 'Analytics settings',
    description: 'Goals, alerts and shared pages of a project. Not billed.',
  },
  {
    name: 'Saved items',
    description: 'Segments, funnels and annotations of a project. Not billed.',
  },
  {
    name: 'Identity',
    description: 'Look up the person behind an address, a cookie or a hash.',
  },
  {
    name: 'Audiences',
    description: 'Definitions of people and companies, and their builds.',
  },
  {
    name: 'Audience records',
    description: 'The members of a built audience: pages, changes, explanations and files.',
  },
  {
    name: 'Lists',
    description: 'Your own lists of people, companies and browsers, imported in the background.',
  },
  {
    name: 'Intent',
    description: 'Topics that people and companies are interested in.',
  },
  { name: 'Billing', description: 'Usage, charges, budgets and limits.' },
  {
    name: 'Campaigns',
    description: 'DSP campaigns, their metrics and remaining budgets.',
  },
  { name: 'Integrations', description: 'Destinations for exports. Not billed.' },
  {
    name: 'Exports',
    description:
      'Audiences sent to integrations, with an outcome for each record. Charged like records that are read.',
  },
  {
    name: 'Archives',
    description: 'Hourly copies of raw events in your bucket. Charged like rows of web events.',
  },
  {
    name: 'Webhooks',
    description:
      'Notifications to your own URLs, signed according to Standard Webhooks. Not billed.',
  },
  {
    name: 'Visit alerts',
    description:
      'Rules that report when a person visits. Each reported person is charged once a day.',
  },
  { name: 'Taxonomy', description: 'The meaning of fields and their values. Not billed.' },
  { name: 'Administration', description: 'The organization and its members.' },
  { name: 'Projects', description: 'Projects and their members.' },
  { name: 'Pixels', description: 'Pixels, their settings and their identify secrets.' },
  { name: 'Ingest', description: 'Endpoints for pages: script and beacons. Not billed.' },
  {
    name: 'Dashboard',
    description: 'Routes of the dashboard’s own pages. They require a session and refuse keys.',
  },
  {
    name: 'Privacy',
    description: 'Erasure, data export and opt-out for the people behind the data. Not billed.',
  },
  { name: 'Authentication', description: 'The legacy sign-in for programs.' },
  { name: 'Health', description: 'The state of the service.' },
]

const nameStatuses: SwaggerTransformObject = (input) => {
  const { openapiObject } = input as { openapiObject: unknown }
  for (const operations of Object.values((openapiObject as Document).paths)) {
    for (const { responses } of Object.values(operations)) {
      for (const [status, answer] of Object.entries(responses)) {
        if (answer.description === 'Default Response')
          answer.description = STATUS_CODES[status] ?? 'OK'
      }
    }
  }
  return openapiObject as ReturnType<SwaggerTransformObject>
}

const securitySchemes = (publicUrl: string) =>
  ({
    key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
    secret: { type: 'apiKey', in: 'header', name: 'X-Api-Secret' },
    basic: {
      type: 'http',
      scheme: 'basic',
      description: 'Segment’s API only: the write key as the user name, without a password.',
    },
    token: {
      type: 'http',
      scheme: 'bearer',
      description:
        'Deprecated: the token of POST /auth/v1/login. On lists and campaigns also an API key; on figures also the secret of a share link. An API key also needs `X-Api-Secret` while the organization has `secret_required` on (the default).',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookie(publicUrl),
      description: 'A member signed in to the dashboard.',
    },
  }) as const
