import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { readEmbedOrigins } from '../api/access/shareLinks.ts'
import { pageHeaders } from '../api/http/pageHeaders.ts'
import { buildRoot } from '../platform/paths.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { ttlCache } from '../platform/ttlCache.ts'

const built = join(buildRoot, 'dashboard')

/** The addresses of the pages; their script decides which page to show. */
const uuid = '[0-9a-fA-F-]{36}'
const pagePaths = [
  '/',
  '/sign-in',
  '/invitation/:token',
  '/forgot-password',
  '/reset-password/:token',
  '/email-change/:token',
  '/unsubscribe/:token',
  // Target of links in the API documentation: the explorer of the visitor's organization.
  '/explorer',
  `/:organization_id(^${uuid}$)`,
  `/:organization_id(^${uuid}$)/*`,
]

/** The headers of a page. Pages of `embedOrigins` may show it in a frame. */
const headersFor = (embedOrigins: readonly string[] = []) => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // Only files of our own, so that no text on a page can become code.
  ...pageHeaders(
    {
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self' data:",
      'connect-src': "'self'",
    },
    embedOrigins,
  ),
})
const shellHeaders = headersFor()

/** The pages contain no data: they request it with the member's session. */
const open = { config: { access: { to: 'anyone' } }, schema: { hide: true } } as const

const readShell = (publicUrl: string): string =>
  readFileSync(join(built, 'index.html'), 'utf8').replace('{{collector_url}}', encodeURI(publicUrl))

/** Whether a browser follows a link or opens a typed address. */
const asksForPage = ({ method, url, headers }: FastifyRequest): boolean =>
  ['GET', 'HEAD'].includes(method) &&
  !url.startsWith('/api/') &&
  (headers.accept ?? '').split(',').some((range) => range.trim().startsWith('text/html'))

/** Answers requests without a route: a page for browsers, JSON for programs. */
export function answerUnknownRoute(
  publicUrl: string,
  refuseUnknown: (request: FastifyRequest) => never,
) {
  const shell = readShell(publicUrl)
  return async (request: FastifyRequest, reply: FastifyReply) => {
    if (!asksForPage(request)) refuseUnknown(request)
    return reply
      .code(404)
      .headers({ ...shellHeaders, vary: 'Accept' })
      .send(shell)
  }
}

/** The dashboard: one HTML shell for all pages, and its assets under /dashboard/assets. */
export const dashboardPages =
  ({ publicUrl, postgres }: { publicUrl: string; postgres: Postgres }): FastifyPluginAsync =>
  async (app) => {
    const embedOriginsOf = ttlCache((shareId) => readEmbedOrigins(postgres, shareId))
    const shell = readShell(publicUrl)
    for (const path of pagePaths) {
      app.get(path, open, async (_request, reply) => reply.headers(shellHeaders).send(shell))
    }

    // Browsers never send the secret behind #, and no-referrer keeps the rest of the address from other sites.
    app.get<{ Params: { share_id: string } }>('/share/:share_id', open, async (request, reply) =>
      reply
        .headers({
          ...headersFor(await embedOriginsOf(request.params.share_id)),
          'referrer-policy': 'no-referrer',
          'x-robots-tag': 'noindex, nofollow',
        })
        .send(shell),
    )

    const icon = readFileSync(join(built, 'favicon.svg'))
    app.get('/favicon.ico', open, async (_request, reply) =>
      reply
        .type('image/svg+xml')
        .headers({ 'cache-control': 'public, max-age=86400', 'x-content-type-options': 'nosniff' })
        .send(icon),
    )

    // File names contain a hash of the content, so caches keep them permanently.
    await app.register(fastifyStatic, {
      root: join(built, 'assets'),
      serve: false,
      preCompressed: true,
      immutable: true,
      maxAge: '1y',
    })
    app.get<{ Params: { file: string } }>('/dashboard/assets/:file', open, async (request, reply) =>
      reply.header('x-content-type-options', 'nosniff').sendFile(request.params.file),
    )
  }
