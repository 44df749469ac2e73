import { readFile } from 'node:fs/promises'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { pageHeaders } from '../../api/http/pageHeaders.ts'
import { listFile, missingPath, pageFile, placeholders, searchFile } from './siteFiles.ts'

/** No inline scripts and no other origins, so that no description can become code. */
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  ...pageHeaders({
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self'",
    'connect-src': "'self'",
  }),
}

const open = { schema: { hide: true }, config: { access: { to: 'anyone' } } } as const

/**
 * The documentation below `/docs`: guides, examples and API reference, as the build rendered them (site.ts), with the
 * addresses of this service. Their script and style are assets of the dashboard.
 */
export const docsPages =
  (publicUrl: string, collectorUrl: string): FastifyPluginAsync =>
  async (app) => {
    const textOf = async (file: string): Promise<string> =>
      (await readFile(file, 'utf8'))
        .replaceAll(placeholders.publicUrl, publicUrl)
        .replaceAll(placeholders.collectorUrl, collectorUrl)
    let paths: Promise<ReadonlySet<string>> | undefined
    /** Reads the list at the first request: most processes never need it. */
    const readPaths = async () => new Set<string>(JSON.parse(await readFile(listFile, 'utf8')))

    const send = async (reply: FastifyReply, path: string) => {
      paths ??= readPaths()
      const isThere = (await paths).has(path)
      return reply
        .code(isThere ? 200 : 404)
        .headers(headers)
        .send(await textOf(pageFile(isThere ? path : missingPath)))
    }

    app.get('/docs', open, (_request, reply) => send(reply, ''))
    app.get('/docs/search.json', open, async (_request, reply) =>
      reply
        .headers({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' })
        .type('application/json; charset=utf-8')
        .send(await textOf(searchFile)),
    )
    app.get<{ Params: { '*': string } }>('/docs/*', open, (request, reply) =>
      send(reply, `/${request.params['*'].replace(/\/$/, '')}`),
    )
  }
