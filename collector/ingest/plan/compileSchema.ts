import { RE2JS } from 're2js'
import { isUuid } from '../../../schemas/uuid.ts'
import type { Fault } from '../normalize/validateEvent.ts'
import type { PatternTimer } from './patternTimer.ts'
import { type PlanSchema, schemaLimits } from './schemaLimits.ts'

/** Returns the first fault of a value, with the path to it; undefined without one. */
export type Check = (value: unknown) => Fault | undefined

/**
 * Makes the check of a schema that findSchemaFault accepts. It interprets the schema instead of generating code, since
 * customers write schemas; its time is linear in the value. `matches` runs the regular expressions.
 */
export function compileSchema(
  schema: PlanSchema,
  matches: PatternTimer = (match) => match(),
): Check {
  const checks = [
    typeCheck(schema),
    valueCheck(schema),
    numberCheck(schema),
    textCheck(schema, matches),
    arrayCheck(schema, matches),
    objectCheck(schema, matches),
    anyOfCheck(schema, matches),
  ].filter((check) => check !== undefined)
  return (value) => {
    for (const check of checks) {
      const fault = check(value)
      if (fault) return fault
    }
  }
}

const here = (message: string): Fault => ({ path: '', message })
const below = (name: string | number, { path, message }: Fault): Fault => ({
  path: `/${String(name).slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')}${path}`,
  message,
})

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value

function typeCheck({ type }: PlanSchema): Check | undefined {
  if (type === undefined) return
  const types = [type].flat()
  const fault = here(`must be ${types.join(' or ')}`)
  return (value) => {
    const actual = typeOf(value)
    const isGood = types.includes(actual) || (types.includes('integer') && Number.isInteger(value))
    return isGood ? undefined : fault
  }
}

function valueCheck({ enum: values, const: only }: PlanSchema): Check | undefined {
  if (values === undefined && only === undefined) return
  const allowed = new Set(values ?? [only])
  const shown = [...allowed]
    .slice(0, 20)
    .map((each) => JSON.stringify(each))
    .join(', ')
  const fault = here(`must be ${allowed.size === 1 ? '' : 'one of '}${shown}`)
  return (value) =>
    allowed.has(value) && (only === undefined || value === only) ? undefined : fault
}

function numberCheck(schema: PlanSchema): Check | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const bounds: [((value: number) => boolean) | false, string][] = [
    [minimum !== undefined && ((value) => value >= minimum), `at least ${minimum}`],
    [maximum !== undefined && ((value) => value <= maximum), `at most ${maximum}`],
    [
      exclusiveMinimum !== undefined && ((value) => value > exclusiveMinimum),
      `above ${exclusiveMinimum}`,
    ],
    [
      exclusiveMaximum !== undefined && ((value) => value < exclusiveMaximum),
      `below ${exclusiveMaximum}`,
    ],
  ]
  const checks = bounds.filter(([isGood]) => isGood !== false)
  if (checks.length === 0) return
  return (value) => {
    if (typeof value !== 'number') return
    const failed = checks.find(([isGood]) => isGood && !isGood(value))
    return failed && here(`must be ${failed[1]}`)
  }
}

const formats: Record<string, (text: string) => boolean> = {
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) =>
    /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/.test(text) &&
    !Number.isNaN(Date.parse(text)),
  email: (text) => text.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text),
  uuid: isUuid,
}

function textCheck(
  { minLength, maxLength, pattern, format }: PlanSchema,
  matches: PatternTimer,
): Check | undefined {
  if ([minLength, maxLength, pattern, format].every((each) => each === undefined)) return
  let regex: RE2JS | undefined
  const hasFormat = format === undefined ? null : formats[format]!
  return (value) => {
    if (typeof value !== 'string') return
    // JSON Schema counts characters instead of UTF-16 units.
    const needsLength = minLength !== undefined || maxLength !== undefined
    const length = needsLength ? charactersIn(value) : 0
    if (minLength !== undefined && length < minLength)
      return here(`must have at least ${minLength} characters`)
    if (maxLength !== undefined && length > maxLength)
      return here(`must have at most ${maxLength} characters`)
    if (hasFormat && !hasFormat(value)) return here(`must be a ${format}`)
    if (pattern === undefined) return
    if (value.length > schemaLimits.matchedChars)
      return here(`must have at most ${schemaLimits.matchedChars} characters to match the pattern`)
    const isMatch = matches(() => {
      regex ??= RE2JS.compile(pattern)
      return regex.matcher(value).find()
    })
    if (!isMatch) return here(`must match ${pattern}`)
  }
}

function charactersIn(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

function arrayCheck(
  { minItems, maxItems, items }: PlanSchema,
  matches: PatternTimer,
): Check | undefined {
  if (minItems === undefined && maxItems === undefined && !items) return
  const check = items && compileSchema(items, matches)
  return (value) => {
    if (!Array.isArray(value)) return
    if (minItems !== undefined && value.length < minItems)
      return here(`must have at least ${minItems} items`)
    if (maxItems !== undefined && value.length > maxItems)
      return here(`must have at most ${maxItems} items`)
    if (!check) return
    for (let index = 0; index < value.length; index++) {
      const fault = check(value[index])
      if (fault) return below(index, fault)
    }
  }
}

function objectCheck(
  { properties = {}, required = [], additionalProperties = true }: PlanSchema,
  matches: PatternTimer,
): Check | undefined {
  const checks = new Map(
    Object.entries(properties).map(([name, part]) => [name, compileSchema(part, matches)]),
  )
  if (checks.size === 0 && required.length === 0 && additionalProperties === true) return
  const others =
    typeof additionalProperties === 'object' ? compileSchema(additionalProperties, matches) : null
  const unknown = here(
    `must be one of the planned properties ${[...checks.keys()].slice(0, 20).join(', ')}`,
  )
  return (value) => {
    if (typeOf(value) !== 'object') return
    const object = value as Record<string, unknown>
    for (const name of required)
      if (!Object.hasOwn(object, name)) return below(name, here('is required'))
    for (const name of Object.keys(object)) {
      const check = checks.get(name) ?? others
      const fault = check ? check(object[name]) : additionalProperties === false && unknown
      if (fault) return below(name, fault)
    }
  }
}

function anyOfCheck({ anyOf }: PlanSchema, matches: PatternTimer): Check | undefined {
  if (!anyOf) return
  const checks = anyOf.map((part) => compileSchema(part, matches))
  const fault = here(`must match one of the ${checks.length} schemas of anyOf`)
  return (value) => (checks.some((check) => !check(value)) ? undefined : fault)
}
