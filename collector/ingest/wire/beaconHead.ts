import { beaconBytesMax } from '../../../schemas/beacon.ts'
import { type BeaconHeaders, beaconHeaders, isBeaconType } from '../beacon/beaconRequest.ts'

/** The header section of a beacon in the usual form. */
export interface BeaconHead {
  headers: BeaconHeaders
  /** The offset of the body, and the end of the request. */
  bodyAt: number
  end: number
}

/** The exact request line of a beacon (RFC 9112, 3). */
const requestLine = 'POST /e HTTP/1.1\r\n'
const endOfHead = Buffer.from('\r\n\r\n')
/** Half of Node's limit. */
const headBytesMax = 8 * 1024
const linesMax = 100

/** RFC 9110, 5.6.2. */
const token = /^[!#$%&'*+.^`|~\w-]+$/
/** Characters that no field value may contain (RFC 9110, 5.5), and incomplete line ends (RFC 9112, 2.2). */
const illegal = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r[^\n]|[^\r]\n/
/** RFC 9112, 6.2. It excludes a leading zero, which some parsers read as octal. */
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
  // The first byte excludes most other requests.
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

/**
 * Returns the length of the body; null if the request has body or connection fields that beacons do not have.
 */
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

/** Removes surrounding spaces and tabs (RFC 9112, 5.1), and only those, unlike JavaScript's trim. */
function trimmed(text: string, start: number, end: number): string {
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}
