import { beaconBytesMax } from '../../../schemas/beacon.ts'
import { type BeaconHeaders, beaconHeaders } from '../beacon/beaconRequest.ts'
import { isBeaconType } from '../beacon/plainBeacon.ts'

/** The head of a beacon as nearly all are sent. */
export interface BeaconHead {
  headers: BeaconHeaders
  /** Where in the bytes its body begins, and where the request ends. */
  bodyAt: number
  end: number
}

/** RFC 9112, 3: method, target and version are these to the byte. */
const requestLine = 'POST /e HTTP/1.1\r\n'
const endOfHead = Buffer.from('\r\n\r\n')
/** Node takes twice as much. */
const headBytesMax = 8 * 1024
const linesMax = 100

/** RFC 9110, 5.6.2. */
const token = /^[!#$%&'*+.^`|~\w-]+$/
/** What no field value may hold (RFC 9110, 5.5), and a line end that is half of one (RFC 9112, 2.2). */
const illegal = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r[^\n]|[^\r]\n/
/** RFC 9112, 6.2. Without a zero in front, which some read as octal. */
const length = /^[1-9]\d{0,5}$/

/**
 * What a field does here: "told" is handed to who accepts beacons, "framing" is checked below, and "foreign" makes a
 * request that is Node's to read, for it may mean another body, another connection, or another route. What is not
 * named is read past.
 */
const roles = new Map<string, 'told' | 'framing' | 'foreign'>([
  ...beaconHeaders.map((name) => [name, 'told'] as const),
  ...['host', 'content-length', 'content-type', 'connection'].map(
    (name) => [name, 'framing'] as const,
  ),
  ...[
    'transfer-encoding',
    'te',
    'trailer',
    'upgrade',
    'http2-settings',
    'proxy-connection',
    'expect',
  ].map((name) => [name, 'foreign'] as const),
  ...['content-encoding', 'x-api-key'].map((name) => [name, 'foreign'] as const),
])

/**
 * Reads the head of a request that begins with the first of these bytes. Null unless it is a whole head of one strict
 * shape, which every parser of HTTP understands alike: a beacon with one Host, one Content-Length in digits, nothing else
 * that tells of its body or its connection (RFC 9112, 6.3 and 9.3), no field twice that means something here, none that is
 * folded (5.2), empty, or has a space before its colon (5.1).
 */
export function readBeaconHead(bytes: Buffer): BeaconHead | null {
  // Of most other requests it is the first byte that differs.
  if (bytes[0] !== 0x50) return null
  const bodyAt = bytes.indexOf(endOfHead) + endOfHead.length
  if (bodyAt < requestLine.length || bodyAt > headBytesMax) return null
  const text = bytes.toString('latin1', 0, bodyAt - 2)
  if (!text.startsWith(requestLine) || illegal.test(text)) return null

  const told: Record<string, string> = {}
  const framing: Framing = {}
  let lines = 0
  for (let at = requestLine.length; at < text.length; ) {
    const lineEnd = text.indexOf('\r\n', at)
    const colon = text.indexOf(':', at)
    if (colon === -1 || colon > lineEnd || ++lines > linesMax) return null
    const name = text.slice(at, colon).toLowerCase()
    const role = roles.get(name)
    if (role === undefined) {
      if (!token.test(name)) return null
    } else {
      if (role === 'foreign') return null
      const fields = role === 'told' ? told : (framing as Record<string, string>)
      const value = trimmed(text, colon + 1, lineEnd)
      if (value === '' || fields[name] !== undefined) return null
      fields[name] = value
    }
    at = lineEnd + 2
  }
  const bodyBytes = bodyBytesOf(framing)
  return bodyBytes === null ? null : { headers: told, bodyAt, end: bodyAt + bodyBytes }
}

type Framing = Partial<Record<'host' | 'content-length' | 'content-type' | 'connection', string>>

/** How long the body is; null where something else is said of it, or of the connection, than beacons say. */
function bodyBytesOf(framing: Framing): number | null {
  const {
    host,
    connection = 'keep-alive',
    'content-length': digits = '',
    'content-type': type,
  } = framing
  if (host === undefined || connection.toLowerCase() !== 'keep-alive') return null
  if (!length.test(digits) || !isBeaconType(type)) return null
  const bytes = Number(digits)
  return bytes <= beaconBytesMax ? bytes : null
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09

/** Without the spaces and tabs around it (RFC 9112, 5.1), and only those: JavaScript's trim takes more. */
function trimmed(text: string, start: number, end: number): string {
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}
