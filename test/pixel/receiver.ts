/** A stand-in for the collector that tests look into: serves pages and the built pixel, keeps bodies. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { readScripts } from '../../collector/ingest/script/pixelScript.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import {
  type Beacon,
  type BeaconEvent,
  beaconBytesMax,
  defaultPixelSettings,
  type PixelSettings,
} from '../../schemas/beacon.ts'
import { eventDataSchemas } from '../../schemas/events/index.ts'
import { eventsOf, meaningsOf } from '../harness/understood.ts'

/** The pixel as the run built it (test/setup.ts). */
const builtPixel = join(packageRoot, 'dist/pixel')

export const pixelId = '0b5f3c7e-9d2a-4c1b-8e6f-1a2b3c4d5e6f'

const validators = new Map(
  Object.entries(eventDataSchemas).map(([type, schema]) => [type, Compile(schema as TSchema)]),
)

/** A beacon as the collector understands it. */
interface Understood extends Omit<Beacon, 'events'> {
  events: BeaconEvent[]
}

export interface Reception {
  beacon: Understood
  headers: IncomingMessage['headers']
  bytes: number
}

/** A request's body; null when its page went away in the middle of it. */
const bodyOf = async (request: IncomingMessage): Promise<Buffer | null> => {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk)
  } catch {
    return null
  }
  return Buffer.concat(chunks)
}

function understood(
  { cookie_id, consent, events, ...rest }: Beacon,
  settings: PixelSettings,
): Understood {
  const meanings = meaningsOf(events, settings)
  const person = meanings.find(({ person }) => person)?.person
  return {
    ...rest,
    consent: cookie_id !== null && (consent ?? settings.consent === 'granted'),
    ...(cookie_id && { cookie_id }),
    ...(person && { hem: person.hem, hem_source: person.source }),
    events: eventsOf(meanings),
  }
}

export async function startReceiver() {
  const built = (name: string) => readFileSync(join(builtPixel, name), 'utf8')
  const scriptFor = readScripts(builtPixel)
  const module = built('index.js')

  const state = {
    /** Path → HTML. */
    pages: new Map<string, string>(),
    settings: defaultPixelSettings as PixelSettings,
    /** Accepted bodies. */
    received: [] as Reception[],
    /** Every request the pixel made, refused ones too: "POST /e". */
    requests: [] as string[],
    /** Events that no schema takes. */
    invalid: [] as string[],
    /** Statuses of the next answers; 200 when there are none left. */
    statuses: [] as number[],
    /** Set to answer every beacon with this id, as a collector's own cookie would. */
    cookieId: undefined as string | undefined,
    answerDelayMs: 0,
  }

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, 'http://receiver')
    response.setHeader('access-control-allow-origin', request.headers.origin ?? '*')
    response.setHeader('access-control-allow-credentials', 'true')
    if (pathname.startsWith('/p/')) {
      state.requests.push(`${request.method} ${pathname}`)
      response.setHeader('content-type', 'text/javascript')
      if (!/^\/p\/[\da-f-]{36}\.js$/.test(pathname)) return response.end(built(basename(pathname)))
      const collectorOrigin = `http://${request.headers.host}`
      return response.end(
        scriptFor(basename(pathname, '.js'), `${collectorOrigin}${pathname}`, state.settings),
      )
    }
    if (pathname === '/index.js') {
      response.setHeader('content-type', 'text/javascript')
      return response.end(module)
    }
    if (pathname === '/e') {
      state.requests.push(`${request.method} ${pathname}`)
      const body = await bodyOf(request)
      if (body === null) return
      const status = state.statuses.shift() ?? (body.length > beaconBytesMax ? 413 : 200)
      if (state.answerDelayMs)
        await new Promise((answer) => setTimeout(answer, state.answerDelayMs))
      response.statusCode = status
      if (status !== 200) return response.end('{}')
      const beacon = understood(JSON.parse(body.toString()), state.settings)
      state.received.push({ beacon, headers: request.headers, bytes: body.length })
      for (const event of beacon.events) {
        const validator = validators.get(event.event_type)
        if (!validator?.Check(event.event_data)) state.invalid.push(JSON.stringify(event))
      }
      return response.end(
        JSON.stringify({
          cookie_id: state.cookieId ?? beacon.cookie_id ?? randomUUID(),
          accepted: beacon.events.length,
          rejected: [],
        }),
      )
    }
    const page = state.pages.get(pathname)
    if (page === undefined) response.statusCode = 404
    response.setHeader(
      'content-type',
      pathname.endsWith('.webm') ? 'video/webm' : 'text/html; charset=utf-8',
    )
    response.end(page ?? '')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo

  return {
    state,
    port,
    /** Pages come from another site than the collector's, as customers' pages do. */
    pageOrigin: `http://localhost:${port}`,
    collectorOrigin: `http://127.0.0.1:${port}`,
    /** Events in order of arrival; of one type where given. */
    events<T extends BeaconEvent['event_type']>(type?: T): BeaconEvent<T>[] {
      const all = state.received.flatMap(({ beacon }) => beacon.events)
      return all.filter((event) => !type || event.event_type === type) as BeaconEvent<T>[]
    },
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}
