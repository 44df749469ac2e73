import type { FastifyInstance } from 'fastify'
import { invalidParameter } from './errors.ts'

/** More than any body of a route needs. */
const depthMax = 100
const valuesMax = 250_000

/**
 * Parses JSON bodies like Fastify, but refuses bodies that no route accepts: too deep, or with too many
 * values. A megabyte of brackets would occupy JSON.parse and the garbage collector for half a second, and
 * recursive functions read the result. Call it before any route is registered.
 */
export function parseJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string' },
    (request, text, done) => {
      const excess = excessOf(text)
      if (text === '' && hasDefault(request.routeOptions.schema?.body)) return done(null, null)
      if (excess) done(invalidParameter('body', excess))
      else parse(request, text, done)
    },
  )
}

/** Whether a route accepts a request without a body. */
const hasDefault = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && 'default' in schema

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [bracket, brace, bracketEnd, braceEnd] = [0x5b, 0x7b, 0x5d, 0x7d]

/** Returns the limit that a text exceeds, scanning until JSON.parse would fail; null if it exceeds none. */
function excessOf(text: string): string | null {
  let [depth, values, isInText] = [0, 1, false]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isInText) {
      if (code === backslash) at++
      else if (code === quote) isInText = false
    } else if (code === quote) isInText = true
    else if (code === comma) values++
    else if (code === bracket || code === brace) {
      values++
      if (++depth > depthMax) return `must be nested at most ${depthMax} levels deep`
    } else if (code === bracketEnd || code === braceEnd) depth--
    if (values > valuesMax) return `must contain at most ${valuesMax} values`
  }
  return null
}
