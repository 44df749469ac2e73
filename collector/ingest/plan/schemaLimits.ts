import { RE2JS } from 're2js'
import { isObject } from '../../platform/json.ts'
import type { Fault } from '../normalize/validateEvent.ts'

/** A JSON Schema of the subset that plans may use. */
export interface PlanSchema {
  type?: string | string[]
  properties?: Record<string, PlanSchema>
  required?: string[]
  additionalProperties?: boolean | PlanSchema
  items?: PlanSchema
  enum?: unknown[]
  const?: unknown
  anyOf?: PlanSchema[]
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  format?: string
  description?: string
}

/** Limits of a schema, so that no plan slows the collector. */
export const schemaLimits = {
  bytes: 32 * 1024,
  depth: 8,
  schemas: 300,
  patterns: 10,
  patternChars: 200,
  /** Instructions of a compiled pattern: each repetition such as {1,100} copies its operand. */
  patternSize: 1_000,
  /** Instructions of all patterns of a plan. */
  planPatternSize: 50_000,
  /** Longer texts are violations of a pattern. */
  matchedChars: 500,
  values: 500,
  branches: 10,
}

export const schemaTypes = [
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
] as const

export const schemaFormats = ['date', 'date-time', 'email', 'uri', 'uuid'] as const

const isText = (value: unknown): value is string => typeof value === 'string'
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0
const isNumber = (value: unknown) => Number.isFinite(value)
const isScalar = (value: unknown) =>
  value === null || ['string', 'boolean'].includes(typeof value) || isNumber(value)

/** The values of each keyword; other keywords are refused. */
const keywords: Record<string, { isGood(value: unknown): boolean; takes: string }> = {
  type: {
    isGood: (value) => {
      const types = [value].flat()
      return types.length > 0 && types.every((type) => schemaTypes.includes(type as 'string'))
    },
    takes: `one or several of ${schemaTypes.join(', ')}`,
  },
  properties: { isGood: isObject, takes: 'an object of schemas' },
  required: {
    isGood: (value) =>
      Array.isArray(value) && value.length <= schemaLimits.values && value.every(isText),
    takes: 'a list of names',
  },
  additionalProperties: {
    isGood: (value) => typeof value === 'boolean' || isObject(value),
    takes: 'true, false or a schema',
  },
  items: { isGood: isObject, takes: 'a schema' },
  enum: {
    isGood: (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= schemaLimits.values &&
      value.every(isScalar),
    takes: `1 to ${schemaLimits.values} texts, numbers, booleans or null`,
  },
  const: { isGood: isScalar, takes: 'a text, a number, a boolean or null' },
  anyOf: {
    isGood: (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= schemaLimits.branches &&
      value.every(isObject),
    takes: `1 to ${schemaLimits.branches} schemas`,
  },
  ...Object.fromEntries(
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((name) => [
      name,
      { isGood: isNumber, takes: 'a number' },
    ]),
  ),
  ...Object.fromEntries(
    ['minLength', 'maxLength', 'minItems', 'maxItems'].map((name) => [
      name,
      { isGood: isCount, takes: 'a whole number from 0' },
    ]),
  ),
  pattern: {
    isGood: (value) => isText(value) && value.length <= schemaLimits.patternChars,
    takes: `a regular expression of at most ${schemaLimits.patternChars} characters`,
  },
  format: {
    isGood: (value) => schemaFormats.includes(value as 'date'),
    takes: `one of ${schemaFormats.join(', ')}`,
  },
  ...Object.fromEntries(
    ['title', 'description', '$schema', '$comment'].map((name) => [
      name,
      { isGood: isText, takes: 'a text' },
    ]),
  ),
  ...Object.fromEntries(
    ['examples', 'default', 'deprecated'].map((name) => [
      name,
      { isGood: () => true, takes: 'any value' },
    ]),
  ),
}

/** Instructions of the patterns of a plan that were read. */
interface PatternSizes {
  patternSize: number
}

/** Finds the first fault of an event’s schema, with a JSON pointer into it; undefined without a fault. */
export function findSchemaFault(
  schema: unknown,
  seenInPlan: PatternSizes = { patternSize: 0 },
): Fault | undefined {
  if (Buffer.byteLength(JSON.stringify(schema)) > schemaLimits.bytes)
    return { path: '', message: `must take at most ${schemaLimits.bytes} bytes of JSON` }
  if (!isObject(schema) || schema.type !== 'object')
    return { path: '/type', message: 'must be "object", because properties of events are objects' }
  return check(schema, '', 1, { schemas: 0, patterns: 0, plan: seenInPlan })
}

function check(
  schema: unknown,
  path: string,
  depth: number,
  seen: { schemas: number; patterns: number; plan: PatternSizes },
): Fault | undefined {
  if (!isObject(schema)) return { path, message: 'must be a schema, which is an object' }
  if (depth > schemaLimits.depth)
    return { path, message: `must be at most ${schemaLimits.depth} schemas deep` }
  if (++seen.schemas > schemaLimits.schemas)
    return { path, message: `must have at most ${schemaLimits.schemas} schemas in all` }
  for (const [name, value] of Object.entries(schema)) {
    const keyword = Object.hasOwn(keywords, name) ? keywords[name] : undefined
    const at = `${path}/${name.slice(0, 100)}`
    if (!keyword)
      return {
        path: at,
        message: `must be one of the keywords ${Object.keys(keywords).join(', ')}`,
      }
    if (!keyword.isGood(value)) return { path: at, message: `must be ${keyword.takes}` }
  }
  if (schema.pattern !== undefined) {
    if (++seen.patterns > schemaLimits.patterns)
      return { path, message: `must have at most ${schemaLimits.patterns} patterns in all` }
    const fault = patternFault(schema.pattern as string, seen.plan)
    if (fault) return { path: `${path}/pattern`, message: fault }
  }
  for (const [at, part] of partsOf(schema)) {
    const fault = check(part, `${path}/${at}`, depth + 1, seen)
    if (fault) return fault
  }
}

/** Yields the schemas within a schema, with the path to each. */
function* partsOf(schema: Record<string, unknown>): Generator<[string, unknown]> {
  const { properties, items, additionalProperties, anyOf } = schema
  for (const [name, part] of Object.entries(properties ?? {}))
    yield [`properties/${name.slice(0, 100)}`, part]
  if (items !== undefined) yield ['items', items]
  if (isObject(additionalProperties)) yield ['additionalProperties', additionalProperties]
  for (const [index, part] of ((anyOf as unknown[] | undefined) ?? []).entries())
    yield [`anyOf/${index}`, part]
}

/** RE2 matches in linear time. It has no lookaround and no back-references. */
function patternFault(pattern: string, plan: PatternSizes): string | undefined {
  try {
    const size = RE2JS.compile(pattern).programSize()
    plan.patternSize += size
    if (size > schemaLimits.patternSize)
      return `must have fewer or smaller repetitions: it has ${size} instructions, at most ${schemaLimits.patternSize} are allowed`
    if (plan.patternSize > schemaLimits.planPatternSize)
      return `makes the plan too large: all patterns together may have ${schemaLimits.planPatternSize} instructions`
  } catch (error) {
    return `must be a regular expression of RE2, without lookaround and back-references: ${(error as Error).message}`
  }
}
