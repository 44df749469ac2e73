import type { Source } from '../../../identity/load/source.ts'

const codes = { quote: 0x22, comma: 0x2c, backslash: 0x5c, open: 0x5b, close: 0x5d } as const
const [braceOpen, braceClose, newline, space] = [0x7b, 0x7d, 0x0a, 0x20]

/**
 * Reads a JSON array as one line per element, and lines of JSON as they are. Each byte becomes one byte, so positions
 * in the file stay valid.
 */
export const withElementsAsLines = (source: Source): Source => ({
  ...source,
  async *read(onEarlyEnd) {
    const converter = createConverter()
    for await (const part of source.read(onEarlyEnd)) yield converter.convert(part)
    if (converter.isOpen()) onEarlyEnd?.()
  },
})

function createConverter(): { convert(part: Buffer): Buffer; isOpen(): boolean } {
  let isArray: boolean | null = null
  let depth = 0
  let isText = false
  let isEscaped = false
  const convert = (part: Buffer) => {
    if (isArray === false) return part
    const lines = Buffer.from(part)
    for (let index = 0; index < lines.length; index++) {
      const byte = lines[index]!
      if (isArray === null) {
        // White space and a byte order mark come before the first value.
        if (byte <= space || byte >= 0x80) continue
        isArray = byte === codes.open
        if (!isArray) return part
      }
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (byte === codes.backslash) isEscaped = true
        else if (byte === codes.quote) isText = false
        continue
      }
      if (byte === codes.quote) isText = true
      else if (byte === newline || byte === 0x0d) lines[index] = space
      else if (byte === codes.open || byte === braceOpen) {
        if (depth++ === 0) lines[index] = space
      } else if (byte === codes.close || byte === braceClose) {
        if (--depth === 0) lines[index] = newline
      } else if (byte === codes.comma && depth === 1) lines[index] = newline
    }
    return lines
  }
  return { convert, isOpen: () => depth > 0 }
}
