import { expect, test } from 'vitest'
import { acceptEvent } from '../../../collector/ingest/beacon/acceptEvent.ts'
import { parseBeacon } from '../../../collector/ingest/beacon/beacon.ts'
import { originOf } from '../../../collector/ingest/beacon/clientInfo.ts'
import { rejectedRow } from '../../../collector/ingest/beacon/rejectedEvents.ts'
import { visitorOf } from '../../../collector/ingest/beacon/visitor.ts'
import { readDevice } from '../../../collector/ingest/normalize/device.ts'
import type { BeaconContext } from '../../../collector/ingest/normalize/eventRow.ts'
import { defaultCollectorSettings, defaultPixelSettings } from '../../../schemas/beacon.ts'
import { captured, complete } from '../../fuzz/samples.ts'

const length = 64 * 1024
const cpuMsMax = 20

const settings = {
  ...defaultPixelSettings,
  ...defaultCollectorSettings,
  ignore_query_parameters: ['customer', 'a.b-c'],
}
const context: BeaconContext = {
  organizationId: 'o',
  projectId: 'p',
  pixelId: 'x',
  cookieId: 'c',
  clientIp: '127.0.0.1',
  deviceMembers: '"user_agent":""',
  receivedMillis: Date.now(),
  clockCorrectionMs: 0,
}

/** Each repeated, after each beginning and before each end: input that makes an expression backtrack. */
const pieces = [
  'a',
  ' ',
  '&',
  '?',
  '#',
  ';',
  '=',
  '/',
  '.',
  '\\',
  '"',
  ']',
  '%5d',
  '%',
  '@',
  ':',
  '-',
  '_',
  '0',
  '\n',
  'token',
  'token=',
  '&token',
  '&token=x',
  '?a',
  '#a',
  'e-',
  'email',
  'session_',
  ' cc-',
  ' text',
  ' search ',
  'http://',
  'xn--',
  '\u{1f600}',
  '\ud800',
  '\u0000',
  'é',
  'ß',
  '\u0301',
  ': ',
  ':1',
  '[',
  'Mozilla/5.0 (',
]
const beginnings = ['', 'http://x.example/?token=x']
const ends = ['', 'x=']

const hostile: string[] = pieces.flatMap((piece) =>
  beginnings.flatMap((beginning) =>
    ends.map((end) => {
      const body = piece.repeat(Math.ceil(length / piece.length))
      return (beginning + body).slice(0, length - end.length) + end
    }),
  ),
)

/** Milliseconds of processor time: what others do on the machine does not count. The least of some tries, the first of which compile. */
function cpuMs(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 12 && least > cpuMsMax; tries++) {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

/** A copy of a value for each text, number or null in it, with a text there. */
function* withText(value: unknown, text: string): Generator<unknown> {
  if (typeof value !== 'object' || value === null) {
    yield text
    return
  }
  for (const [key, part] of Object.entries(value)) {
    for (const changed of withText(part, text)) {
      yield Array.isArray(value)
        ? Object.assign([...value], { [key]: changed })
        : { ...value, [key]: changed }
    }
  }
  // As a key, too.
  if (!Array.isArray(value)) yield { ...value, [text]: 1 }
}

const common = {
  url: 'https://shop.example/page',
  properties: { shop: 'nl' },
  referrer: 'https://a.example/',
}
const at = new Date().toISOString()
const samples: Record<string, object> = {
  ...Object.fromEntries(
    Object.entries(captured).map(([type, data]) => [
      type,
      { ...common, at, id: 0.5, type, ...data() },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(complete).map(([event_type, data]) => [
      event_type,
      {
        event_id: '0b5f3c7e-9d2a-4c1b-8e6f-1a2b3c4d5e6f',
        event_type,
        event_data: { url: common.url, ...data(), timestamp: at },
      },
    ]),
  ),
}

const parts = {
  context,
  sharedColumns: '',
  settings,
  plan: undefined,
  ageDaysMax: 366,
  ignored: null,
  faults: undefined,
  reportUnexpected: (error: unknown) => {
    throw error
  },
}

/** The work of a worker on an event. */
function accept(event: unknown): void {
  const made = acceptEvent(event, undefined, parts)
  if ('path' in made) rejectedRow(event, made, context)
}

test.each(Object.keys(samples))(
  'a %s takes no time, whatever 64 KiB stand in any member of it',
  (type) => {
    for (const text of hostile) {
      for (const event of withText(samples[type], text)) {
        const took = cpuMs(() => accept(structuredClone(event)))
        if (took > cpuMsMax)
          expect.fail(
            `${took} ms for ${JSON.stringify(event)
              .replace(/(.{20})\1{3,}/g, '$1…')
              .slice(0, 600)}`,
          )
      }
    }
  },
  600_000,
)

test('nor does an envelope, whatever stands in it', () => {
  const envelope = {
    pixel_id: '0b5f3c7e-9d2a-4c1b-8e6f-1a2b3c4d5e6f',
    cookie_id: null,
    hem: 'a'.repeat(64),
    hem_source: 'identify',
    consent: true,
    sent_at: at,
    events: [{ type: 'track' }],
  }
  for (const text of hostile) {
    for (const beacon of withText(envelope, text)) {
      const body = Buffer.from(JSON.stringify(beacon))
      const took = cpuMs(() => {
        try {
          parseBeacon(body)
        } catch {}
      })
      expect(took, text.slice(0, 50)).toBeLessThan(cpuMsMax)
    }
    const took = cpuMs(() => {
      try {
        parseBeacon(Buffer.from(text))
      } catch {}
    })
    expect(took, text.slice(0, 50)).toBeLessThan(cpuMsMax)
  }
}, 600_000)

test('nor do the headers of a request', () => {
  const pixel = { settings, pixelId: 'x' } as never
  for (const text of hostile) {
    const headers = { 'user-agent': text, cookie: `footfall=${text}`, referer: text, origin: text }
    const took = cpuMs(() => {
      readDevice(text)
      const sender = { ip: '::1', userAgent: text, isVerifiedBackend: false }
      visitorOf({ headers, protocol: 'http' } as never, sender, pixel, {}, 'salt')
      originOf({ headers: { referer: text } } as never)
    })
    expect(took, text.slice(0, 50)).toBeLessThan(cpuMsMax)
  }
}, 600_000)
