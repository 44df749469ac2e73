import type { Random } from '../../collector/platform/seededRandom.ts'
import { chrome } from '../harness/api.ts'

/** A request in pieces, to be spoilt. */
interface Request {
  line: string
  /** Name, what stands between it and its value, value. */
  fields: [name: string, separator: string, value: string][]
  body: string
  lineEnd: string
  /** Before the request line. */
  before: string
}

/** A beacon as browsers and proxies send them. */
function beacon(random: Random, body: string): Request {
  const optional: [string, string][] = [
    ['Origin', 'https://shop.example'],
    ['Cookie', 'a=b; footfall=0190f0a0-0000-4000-8000-000000000001'],
    ['Accept-Language', 'nl-NL,nl;q=0.9'],
    ['Accept', '*/*'],
    ['Sec-GPC', '1'],
    ['X-Forwarded-For', '192.0.2.7'],
    ['X-Request-Id', '\xe9\xa0 "quoted", ;'],
    ['Connection', random.pick(['keep-alive', 'Keep-Alive'])],
  ]
  const fields: [string, string][] = [
    ['Host', 'localhost'],
    ['User-Agent', chrome],
    ['Content-Type', random.pick(['text/plain', 'application/json', 'text/plain;charset=UTF-8'])],
    ['Content-Length', String(body.length)],
    ...optional.filter(() => random.chance(0.3)),
  ]
  return {
    line: 'POST /e HTTP/1.1',
    fields: fields
      .map(([name, value]): Request['fields'][number] => [
        random.chance(0.2) ? name.toLowerCase() : name,
        random.pick([': ', ':', ':\t ']),
        random.chance(0.1) ? `${value} \t` : value,
      ])
      .sort(() => random.next() - 0.5),
    body,
    lineEnd: '\r\n',
    before: '',
  }
}

/** Headers that parsers have disagreed about; those of PortSwigger's and others' lists among them. */
const hostileFields: Request['fields'] = [
  ...[
    'chunked',
    'identity',
    'xchunked',
    'chunked, identity',
    '\x0bchunked',
    ' chunked',
    'CHUNKED',
  ].map((value): Request['fields'][number] => ['Transfer-Encoding', ': ', value]),
  ['Transfer-Encoding', ' : ', 'chunked'],
  ['Transfer_Encoding', ': ', 'chunked'],
  [' Transfer-Encoding', ': ', 'chunked'],
  ['X: y\nTransfer-Encoding', ': ', 'chunked'],
  ['X: y\rTransfer-Encoding', ': ', 'chunked'],
  ['Content-Length', ' : ', '3'],
  ['Content-Length', '\t: ', '3'],
  ['Content\0-Length', ': ', '3'],
  ['Content-Length', ':', ''],
  ['Host', ': ', 'other.example'],
  ['Host', ':', ''],
  ['Connection', ': ', 'close'],
  ['Connection', ': ', 'keep-alive, close'],
  ['Connection', ': ', 'Upgrade'],
  ['Connection', ': ', 'content-length'],
  ['Proxy-Connection', ': ', 'close'],
  ['Upgrade', ': ', 'websocket'],
  ['Upgrade', ': ', 'h2c'],
  ['Expect', ': ', '100-continue'],
  ['Expect', ': ', 'nothing'],
  ['TE', ': ', 'trailers'],
  ['Trailer', ': ', 'Content-Length'],
  ['X-Folded', ': ', 'a\r\n b'],
  ['X-Folded', ': ', 'a\r\n\tContent-Length: 3'],
  ['X-Nul', ': ', 'a\0b'],
  ['X-Control', ': ', 'a\x7f\x01b'],
  ['X-Text', ': ', '\x80\xff\xa0'],
  ['\xe9', ': ', 'name'],
  ['', ': ', 'no name'],
  ['no colon', '', ''],
  ['Origin', ': ', ''],
  ['Origin', ': ', '\xa0https://shop.example\xa0'],
  ['User-Agent', ': ', 'another'],
  ['Cookie', ': ', 'c=d'],
  ['X-Forwarded-For', ': ', '198.51.100.4'],
  ['Content-Encoding', ': ', 'gzip'],
  ['X-Api-Key', ': ', 'ff_live_none'],
  ['__proto__', ': ', 'x'],
]

const lengths = [
  '+5',
  '0x10',
  '-1',
  '5 5',
  '5,5',
  '007',
  '0',
  '00',
  '',
  '5;',
  '1e2',
  '99999999999999999999',
  '5\0',
]

const lines = [
  'POST http://localhost/e HTTP/1.1',
  'POST /e?x=1 HTTP/1.1',
  'POST /e HTTP/1.0',
  'post /e HTTP/1.1',
  ...[
    'POST  /e HTTP/1.1',
    'POST /e  HTTP/1.1',
    'POST /e HTTP/1.1 ',
    'POST /e HTTP/1.2',
    'POST /e HTTP/2.0',
  ],
  'POST /e/ HTTP/1.1',
  'POST //e HTTP/1.1',
  'POST /e#x HTTP/1.1',
  'POST /%65 HTTP/1.1',
  'POST /e',
  ...[
    'GET /e HTTP/1.1',
    'OPTIONS /e HTTP/1.1',
    'PUT /e HTTP/1.1',
    'POST /e\0 HTTP/1.1',
    'PRI * HTTP/2.0',
  ],
  'POST\t/e HTTP/1.1',
  '\x16\x03\x01',
]

const spoilings: ((request: Request, random: Random) => void)[] = [
  (request, random) => request.fields.splice(random.integer(0, 3), 0, random.pick(hostileFields)),
  (request, random) => request.fields.splice(random.integer(0, 3), 0, random.pick(hostileFields)),
  ({ fields }, random) => fields.push(random.pick(fields)),
  ({ fields }, random) => fields.splice(random.integer(0, fields.length - 1), 1),
  ({ fields }, random) => {
    const length = fields.find(([name]) => name.toLowerCase() === 'content-length')
    if (length)
      length[2] = random.chance(0.5)
        ? random.pick(lengths)
        : String(Math.max(0, Number(length[2]) + random.integer(-12, 12)))
  },
  ({ fields, body }, random) =>
    fields.push(['Content-Length', ': ', random.pick([String(body.length), '0', '3', ...lengths])]),
  (request, random) => {
    request.line = random.pick(lines)
  },
  (request, random) => {
    request.lineEnd = random.pick(['\n', '\r', '\r\r\n', '\r\n '])
  },
  (request, random) => {
    request.before = random.pick(['\r\n', '\n', '\r\n\r\n', ' ', '\0'])
  },
  (request) => {
    request.fields.push(['Transfer-Encoding', ': ', 'chunked'])
    request.body = `${request.body.length.toString(16)}\r\n${request.body}\r\n0\r\n\r\n`
  },
  (request) => {
    request.fields = request.fields.filter(([name]) => name.toLowerCase() !== 'content-length')
    request.fields.push(['Transfer-Encoding', ': ', 'chunked'])
    request.body = `${request.body.length.toString(16)};x=y\r\n${request.body}\r\n0\r\nX-Trailer: y\r\n\r\n`
  },
  (request, random) =>
    request.fields.push(['X-Long', ': ', 'x'.repeat(random.integer(4_000, 20_000))]),
  (request, random) => {
    for (let more = random.integer(80, 220); more > 0; more--)
      request.fields.push([`X-${more}`, ': ', 'y'])
  },
]

const textOf = ({ before, line, fields, lineEnd, body }: Request): string =>
  [before + line, ...fields.map((field) => field.join('')), '', body].join(lineEnd)

/** Changes single bytes of a text. */
function damaged(random: Random, text: string): string {
  const at = random.integer(0, text.length - 1)
  const byte = random.pick([
    '\0',
    '\r',
    '\n',
    ' ',
    '\t',
    ':',
    '\xff',
    '0',
    'P',
    text[at]!.toUpperCase(),
  ])
  return text.slice(0, at) + byte + text.slice(at + random.integer(0, 1))
}

/** Others that a connection carries. */
const others = [
  'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc',
  'GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\n\r\n\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  'OPTIONS /e HTTP/1.1\r\nHost: localhost\r\nOrigin: https://shop.example\r\n\r\n',
  'POST /e HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n',
]

/**
 * One to four requests as they go over a connection, most of them beacons, half of those spoilt: the bytes of each write,
 * Latin-1. `bodyOf` gives a beacon's body, ASCII.
 */
export function hostileConversation(random: Random, bodyOf: () => string): string[] {
  const texts = Array.from({ length: random.integer(1, 4) }, () => {
    if (random.chance(0.15)) return random.pick(others)
    // The content of a body must never be read as a request, …
    const request = beacon(random, random.chance(0.1) ? textOf(beacon(random, bodyOf())) : bodyOf())
    // … and what follows it is one.
    if (random.chance(0.1)) request.body += textOf(beacon(random, bodyOf()))
    if (random.chance(0.5)) random.pick(spoilings)(request, random)
    if (random.chance(0.1)) random.pick(spoilings)(request, random)
    const text = textOf(request)
    return random.chance(0.1) ? damaged(random, text) : text
  })
  switch (random.integer(0, 3)) {
    case 0:
      return texts
    case 1:
      return [texts.join('')]
    default: {
      const all = texts.join('')
      const cuts = Array.from({ length: random.integer(1, 5) }, () =>
        random.integer(1, all.length - 1),
      )
      const places = [0, ...cuts.sort((one, other) => one - other), all.length]
      return places.slice(1).map((end, index) => all.slice(places[index], end))
    }
  }
}
