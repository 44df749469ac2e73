import type { FastifyInstance } from 'fastify'
import type { Document } from './document.ts'
import { addExamples } from './examples.ts'
import { describeParameters } from './parameters.ts'
import { shareSchemas } from './sharedSchemas.ts'

const open = { schema: { hide: true }, config: { access: { to: 'anyone' } } } as const

/** The OpenAPI document of all routes, with examples. Complete once the application is ready. */
export function describedRoutes(app: FastifyInstance): Document {
  const document = app.swagger() as unknown as Document
  addExamples(document)
  describeParameters(document)
  return document
}

/** `GET /openapi.json`: the routes' own schemas as OpenAPI 3.1 with examples. */
export async function openapiRoute(app: FastifyInstance): Promise<void> {
  // As bytes, because encoding a megabyte of text takes milliseconds for each response.
  let written: Buffer | undefined
  app.get('/openapi.json', open, async (_request, reply) => {
    written ??= Buffer.from(JSON.stringify(shareSchemas(describedRoutes(app))))
    return reply.type('application/json; charset=utf-8').send(written)
  })
}
