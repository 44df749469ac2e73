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
 * Role of a field. A field with "told" is passed to the code that accepts beacons, and one with "framing" is
 * checked below. With "foreign" the request belongs to Node, because the field may imply another body,
 * connection or route. Other fields are skipped.
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
 * Reads the head of a request that begins with the first of these bytes. Null unless it is a complete head of
 * one strict shape, which every parser of HTTP reads alike. It is a beacon with one Host and one
 * Content-Length in digits. It has no other field about its body or its connection (RFC 9112, 6.3 and 9.3).
 * No field with a role may occur twice. None may be folded (5.2), empty, or have a space before its colon
 * (5.1).
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

/** The length of the body; null if other fields of the body, or of the connection, occur than in beacons. */
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
