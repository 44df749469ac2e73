import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { isUuid } from '../../../schemas/uuid.ts'
import { forAnyone, personal } from '../../api/access/guard.ts'
import { ApiError, invalidParameter } from '../../api/http/errors.ts'
import { pageHeaders } from '../../api/http/pageHeaders.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { packageRoot } from '../../platform/paths.ts'
import { type DemoPixel, demoRowsQuery } from './rowsQuery.ts'

interface ShopDeps {
  /** The demo's pixel; the panel shows only its events. */
  pixel: DemoPixel
  /** The events of real visitors. */
  clickhouse: ClickHouse
}

const shop = join(packageRoot, 'examples/shop')

const idsMax = 50
const windowMs = 10 * 60_000
/** The panel shows only recent events, even for an earlier visitor. */
const windowMsMax = 60 * 60_000
/** The clock of a visitor may be off by less than the collector corrects. */
const clockMarginMs = 2 * 60_000

/** The demo shop under /demo (examples/shop), and GET /demo/rows for its panel. */
export const shopRoutes =
  ({ pixel, clickhouse }: ShopDeps): FastifyPluginAsync =>
  async (app) => {
    app.addHook('onRoute', forAnyone)
    const pages = readPages(pixel.pixelId)
    const htmlHeaders = headersOf([...pages.values()])
    const page = (name: string, path: string) =>
      app.get(path, hidden, async (_request, reply) =>
        reply.headers(htmlHeaders).send(pages.get(name)),
      )

    await app.register(fastifyStatic, {
      root: join(shop, 'assets'),
      prefix: '/demo/assets/',
      decorateReply: false,
      setHeaders: (reply) => void reply.header('x-content-type-options', 'nosniff'),
    })
    for (const name of pages.keys()) page(name, name === 'index' ? '/demo' : `/demo/${name}`)
    // All routes of the studio return the same page.
    page('studio', '/demo/studio/:step')

    // The checkout form: a page with its own POST form, whose fields are not read.
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, _body, done) => done(null),
    )
    app.post('/demo/order', hidden, async (_request, reply) => reply.redirect('/demo/thanks', 303))

    app.get<{ Querystring: { event_id?: string; start_ms?: string } }>(
      '/demo/rows',
      hidden,
      async (request, reply) => {
        const ids = idsOf(request.query.event_id)
        const since = sinceOf(request.query.start_ms)
        await takeTurn(request.ip)
        const window = { startMs: since - clockMarginMs, endMs: Date.now() + 1_000 }
        const rows = await clickhouse.rows(demoRowsQuery(pixel, window, ids))
        return reply.header('cache-control', personal).send({ rows })
      },
    )
  }

/** Public and free: a panel sends three requests a second. For one worker process. */
const turns = [
  { limiter: new RateLimiterMemory({ points: 10, duration: 1 }), isShared: false },
  { limiter: new RateLimiterMemory({ points: 50, duration: 1 }), isShared: true },
]

async function takeTurn(address: string): Promise<void> {
  try {
    for (const { limiter, isShared } of turns) await limiter.consume(isShared ? 'all' : address)
  } catch {
    throw new ApiError(
      429,
      'rate_limited',
      'The demo has too many requests. Wait a second, then try again.',
      {
        headers: { 'retry-after': '1' },
      },
    )
  }
}

/** Kept out of the API documentation. */
const hidden = { schema: { hide: true } }

/** The HTML of each page, with its placeholders filled: the pixel's id and the shared parts. */
function readPages(pixelId: string): Map<string, string> {
  const read = (path: string) => readFileSync(join(shop, path), 'utf8')
  const values: Record<string, string> = {
    pixel_id: pixelId,
    header: read('parts/header.html'),
    footer: read('parts/footer.html'),
  }
  const names = readdirSync(shop).filter((name) => name.endsWith('.html'))
  return new Map(
    names.map((name) => [
      name.replace(/\.html$/, ''),
      read(name).replace(/\{\{(\w+)\}\}/g, (whole, key: string) => values[key] ?? whole),
    ]),
  )
}

/** Sources of the shop's pages: their own files, and inline scripts by their hashes. */
function headersOf(pages: readonly string[]): Record<string, string> {
  const inline = pages.flatMap((html) =>
    [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text]) => text!),
  )
  const hashes = [...new Set(inline)].map(
    (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  )
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    ...pageHeaders({
      'script-src': ["'self'", ...hashes].join(' '),
      // The pixel's overlay (?footfall_debug) adds its own style.
      'style-src': "'self' 'unsafe-inline'",
      'img-src': "'self' data:",
      'media-src': "'self'",
      'connect-src': "'self'",
    }),
  }
}

function idsOf(given: string | undefined): string[] {
  const ids = typeof given === 'string' ? given.toLowerCase().split(',') : []
  if (ids.length === 0 || ids.length > idsMax || !ids.every(isUuid)) {
    throw invalidParameter('event_id', `must be 1 to ${idsMax} uuids, separated by commas`)
  }
  return ids
}

function sinceOf(given: string | undefined): number {
  if (given === undefined) return Date.now() - windowMs
  if (!/^\d{1,15}$/.test(given)) throw invalidParameter('start_ms', 'must be epoch milliseconds')
  return Math.min(Math.max(Number(given), Date.now() - windowMsMax), Date.now())
}
