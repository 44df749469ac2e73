import type { FastifyPluginAsync } from 'fastify'
import { pageHeaders } from '../../api/http/pageHeaders.ts'
import { describedRoutes } from '../../api/openapi/openapiRoute.ts'
import type { DocsSite } from './site.ts'

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

/** The documentation below `/docs`: guides, examples and API reference. Their script and style are assets of the dashboard. */
export const docsPages =
  (publicUrl: string, collectorUrl: string): FastifyPluginAsync =>
  async (app) => {
    let rendered: Promise<DocsSite> | undefined
    /** Loads the renderer at the first request: most processes never need it. */
    const render = async () => {
      const { renderSite } = await import('./site.ts')
      return renderSite(describedRoutes(app), publicUrl, collectorUrl)
    }

    app.get('/docs', open, async (_request, reply) => {
      rendered ??= render()
      return reply.headers(headers).send((await rendered).pages.get(''))
    })
    app.get('/docs/search.json', open, async (_request, reply) => {
      rendered ??= render()
      return reply
        .headers({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' })
        .type('application/json; charset=utf-8')
        .send((await rendered).searchJson)
    })
    app.get<{ Params: { '*': string } }>('/docs/*', open, async (request, reply) => {
      rendered ??= render()
      const { pages, missing } = await rendered
      const page = pages.get(`/${request.params['*'].replace(/\/$/, '')}`)
      return reply
        .code(page === undefined ? 404 : 200)
        .headers(headers)
        .send(page ?? missing)
    })
  }
