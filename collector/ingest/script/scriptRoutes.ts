import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { snippet } from '../../../pixel/stub.mjs'
import { Id } from '../../api/http/commonSchemas.ts'
import { notFound } from '../../api/http/errors.ts'
import { chooseEncoding } from '../../api/http/negotiateEncoding.ts'
import { activePixel, type PixelRegistry } from '../beacon/pixelRegistry.ts'
import type { PinnedScripts } from './pinnedScripts.ts'
import { type ChunkName, chunkNames, createPixelScripts, type Script } from './pixelScript.ts'

export interface ScriptDeps {
  pixels: PixelRegistry
  pinned: PinnedScripts
}

/** Settings may change, so browsers revalidate after five minutes, and meanwhile use their copy. */
const current = 'public, max-age=300, stale-while-revalidate=86400'
/** The URL contains a hash of the content. */
const immutable = 'public, max-age=31536000, immutable'

const isChunk = (name: string): name is ChunkName =>
  (chunkNames as readonly string[]).includes(name)

/**
 * GET /p/{pixel_id}.js and related files. A version in the name, /p/{pixel_id}.{version}.js, pins the
 * content: such a script never changes. The path /p/{pixel_id}.json returns the pinned URL, its integrity,
 * and the HTML for both.
 */
export async function scriptRoutes(
  app: FastifyInstance,
  deps: ScriptDeps,
  collectorUrl: string,
): Promise<void> {
  const scripts = await createPixelScripts(collectorUrl)
  const scriptOf = (name: string) => {
    const { pixelId, settings } = activePixel(deps.pixels, name.toLowerCase())
    return scripts.of(pixelId, settings)
  }

  app.get<{ Params: { file: string } }>(
    '/p/:file',
    { schema: describeScript },
    async (request, reply) => {
      const [, name, version, type] =
        /^([^.]+)(?:\.([0-9a-f]{16}))?\.(js|json)$/.exec(request.params.file) ?? []
      if (name === undefined) throw notFound.route('GET', request.url)
      if (type === 'json')
        return reply.header('cache-control', 'no-cache').send(await describe(name))
      const script = isChunk(name) ? scripts.chunks[name] : await scriptOf(name)
      if (version === script.version) return answer(request, reply, script, immutable)
      // A pinned script may request an old chunk; the current one has the same function.
      if (version === undefined || isChunk(name)) return answer(request, reply, script, current)
      const pinned = await deps.pinned.get(name.toLowerCase(), version)
      if (!pinned) throw notFound.route('GET', request.url)
      return answer(request, reply, pinned, immutable)
    },
  )

  async function describe(name: string) {
    const script = await scriptOf(name)
    const pixelId = name.toLowerCase()
    await deps.pinned.keep(pixelId, script)
    const scriptUrl = `${collectorUrl}/p/${pixelId}.js`
    const pinnedUrl = `${collectorUrl}/p/${pixelId}.${script.version}.js`
    return {
      pixel_id: pixelId,
      script_url: scriptUrl,
      snippet: snippet(scriptUrl),
      pinned_url: pinnedUrl,
      integrity: script.integrity,
      pinned_snippet: snippet(pinnedUrl, { integrity: script.integrity }),
    }
  }
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  script: Script,
  cacheControl: string,
) {
  const encoding = chooseEncoding(request.headers['accept-encoding'], ['br', 'gzip'])
  // Each encoding has other bytes, and so another ETag; a browser with any of them has the script.
  const etag = encoding === 'identity' ? `"${script.version}"` : `"${script.version}-${encoding}"`
  reply.headers({
    'cache-control': cacheControl,
    etag,
    vary: 'Origin, Accept-Encoding',
    'cross-origin-resource-policy': 'cross-origin',
  })
  if (hasVersion(request.headers['if-none-match'], script.version)) return reply.code(304).send()
  if (encoding !== 'identity') reply.header('content-encoding', encoding)
  return reply.type('text/javascript; charset=utf-8').send(script[encoding])
}

/** Whether If-None-Match contains this version, possibly weak, as compressing proxies send it. */
const hasVersion = (ifNoneMatch: string | undefined, version: string): boolean =>
  (ifNoneMatch ?? '')
    .split(',')
    .map((tag) => tag.trim())
    .some((tag) => tag === '*' || tag.replace(/^W\//, '').slice(1, 1 + version.length) === version)

const PixelInstallation = Type.Object(
  {
    pixel_id: Id,
    script_url: Type.String({
      description: 'URL of the script that follows the pixel’s settings within minutes.',
    }),
    snippet: Type.String({ description: 'HTML that loads the script.' }),
    pinned_url: Type.String({ description: 'URL of the pinned script, which never changes.' }),
    integrity: Type.String({ description: 'For the `integrity` attribute.' }),
    pinned_snippet: Type.String({ description: 'HTML that loads the pinned script.' }),
  },
  { title: 'PixelInstallation' },
)

const describeScript = {
  tags: ['Ingest'],
  operationId: 'getPixelScript',
  summary: 'Get the script of a pixel',
  description: `\`/p/{pixel_id}.js\` follows the pixel's settings within minutes. \`/p/{pixel_id}.{version}.js\` never
changes, and supports an \`integrity\` attribute. \`/p/{pixel_id}.json\` returns both URLs, the integrity, and the HTML for
each.`,
  params: Type.Object({
    file: Type.String({
      description: '{pixel_id}.js, {pixel_id}.{version}.js or {pixel_id}.json.',
    }),
  }),
  response: {
    200: {
      description: 'The script, or the data to install it.',
      content: {
        'text/javascript': { schema: Type.String() },
        'application/json': { schema: PixelInstallation },
      },
    },
    304: Type.Null({ description: 'The script matches If-None-Match.' }),
  },
}
