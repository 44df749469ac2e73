import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyPluginAsync } from 'fastify'
import { packageRoot } from '../../platform/paths.ts'
import { pageHeaders } from '../http/pageHeaders.ts'
import type { Document } from './document.ts'
import { addExamples, readExamples } from './examples.ts'
import { renderPage } from './page.ts'
import { shareSchemas } from './sharedSchemas.ts'

/** The page has no script, and its style is a file: nothing in a description can ever become code. */
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  ...pageHeaders({ 'style-src': "'self'", 'img-src': "'self'" }),
}

const open = { schema: { hide: true }, config: { access: { to: 'anyone' } } } as const

/** GET /openapi.json, the routes' own schemas as OpenAPI 3.1 with examples, and GET /docs, the same to read. */
export const docsRoutes =
  (publicUrl: string): FastifyPluginAsync =>
  async (app) => {
    const style = readFileSync(join(packageRoot, 'collector/api/openapi/style.css'))
    const styleTag = `"${createHash('sha256').update(style).digest('base64url').slice(0, 22)}"`
    let written: { json: string; page: string } | undefined
    /** Made once, when all routes are there. */
    const write = () => {
      const document = app.swagger() as unknown as Document
      addExamples(document, readExamples())
      return { json: JSON.stringify(shareSchemas(document)), page: renderPage(document, publicUrl) }
    }

    app.get('/openapi.json', open, async (_request, reply) => {
      written ??= write()
      return reply.type('application/json; charset=utf-8').send(written.json)
    })
    app.get('/docs', open, async (_request, reply) => {
      written ??= write()
      return reply.headers(headers).send(written.page)
    })
    app.get('/docs/style.css', open, async (request, reply) => {
      reply.headers({
        'cache-control': 'no-cache',
        etag: styleTag,
        'x-content-type-options': 'nosniff',
      })
      if (request.headers['if-none-match']?.includes(styleTag)) return reply.code(304).send()
      return reply.type('text/css; charset=utf-8').send(style)
    })
  }
