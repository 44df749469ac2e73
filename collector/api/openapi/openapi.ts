import { STATUS_CODES } from 'node:http'
import swagger, { type SwaggerTransformObject } from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
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
        version: '0.1.0',
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

const description = `Web events captured by the Footfall pixel, and who they were.

Every error is \`{ "error", "code", "message", "request_id" }\`: \`code\` is for programs, \`error\` does not change either, \`message\`
is for people. Records are charged when the head of their answer is sent; what the service then breaks off is given
back. 503 \`busy\` and 429 carry \`Retry-After\` in seconds; answers other than 2xx are never billed.
HEAD is answered wherever GET is, without the body; of what is charged it only checks who asks, and costs nothing.
Paths that begin with \`/v1\`, \`/v2\` or \`/v3\` are the same with \`/api\` before it. Bodies of requests are JSON,
uncompressed; answers of 1 KiB and more are compressed for who asks for it (\`zstd\`, \`br\`, \`gzip\`).
In Node and browsers \`footfall/client\` asks for you: pages, waits, repeats, types; its methods are named as operations here.
With a test key every answer carries \`X-Svc-Mode: test\`, shows sample data and costs nothing. Its writes are simulated: they are
checked and answered as with a live key, and store, mail and send nothing. A created record is shown with the id of a sample
record where the sample has one: reading it later returns the sample record. Other created ids return 404 later.
A key and its secret are made in the dashboard, at \`/{org_id}/settings/api-keys\`, and nowhere else.`

const tags = [
  { name: 'Events', description: 'Events, one row each, and their counts.' },
  {
    name: 'Events, versions 1 and 2',
    description: 'Earlier versions of the events routes. Use version 3 for new programs.',
  },
  {
    name: 'Analytics',
    description:
      'Figures about events: visitors, sessions, pages, sources; aggregates alone, not billed.',
  },
  {
    name: 'Identity',
    description: 'Who an address belongs to, and people by what is known of them.',
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
    description:
      'People, companies and browsers that you name: uploaded, imported in the background.',
  },
  {
    name: 'Intent',
    description: 'What people and companies are interested in, by topic, person or company.',
  },
  { name: 'Billing', description: 'What was charged, and how much may be.' },
  {
    name: 'Campaigns',
    description: 'DSP campaigns, what they did, and what is left of their budgets.',
  },
  { name: 'Integrations', description: 'Destinations that exports send to; not billed.' },
  {
    name: 'Exports',
    description:
      'Audiences sent to integrations, with an outcome for every record; charged as records that are read.',
  },
  {
    name: 'Webhooks',
    description:
      'Where to be told when something has happened, signed as Standard Webhooks says; not billed.',
  },
  { name: 'Taxonomy', description: 'What fields and their values mean; not billed.' },
  { name: 'Administration', description: 'The organization and its members.' },
  { name: 'Projects', description: 'Projects and their members.' },
  { name: 'Pixels', description: 'Pixels, their settings and their identify secrets.' },
  { name: 'Ingest', description: 'What pages load and send to; not billed.' },
  {
    name: 'Dashboard',
    description: 'What the dashboard’s own pages ask; a session serves, a key does not.',
  },
  {
    name: 'Privacy',
    description: 'What people may ask of those who collect: erasure, export, opt-out; not billed.',
  },
  { name: 'Authentication', description: 'The legacy sign-in of programs.' },
  { name: 'Health', description: 'How the service is.' },
]

/** Answers without a description of their own are described by their status. */
const nameStatuses: SwaggerTransformObject = (given) => {
  const { openapiObject } = given as { openapiObject: unknown }
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
        'Deprecated: the token of POST /auth/v1/login. On lists and campaigns also an API key, on figures the secret of a share ' +
        'link. An API key also needs `X-Api-Secret` while the organization has `secret_required` on (the default).',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookie(publicUrl),
      description: 'A member signed in to the dashboard.',
    },
  }) as const
