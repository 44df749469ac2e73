import type { TLocalizedValidationError } from 'typebox/error'

/** One violation of a schema, as reported by the validator. */
export type Fault = Pick<
  TLocalizedValidationError,
  'instancePath' | 'message' | 'keyword' | 'params'
>

/** The most characters of a request's value in an error. */
const givenCharsMax = 60
/** Fields whose values never appear in an error. */
const isSecret = /pass|secret|token|code|signature|key|credential|authorization/i
const unknownNamesMax = 3

/**
 * Describes the allowed values at the place of the first fault, and the given value: `must be a whole number
 * from 1 to 5000 (got 0)`. Never repeats a secret, nor more than 60 characters of a value.
 */
export function describeFault(
  faults: readonly Fault[],
  value: unknown,
  allowed = allowedBy(faults),
): string {
  const [first] = faults
  const path = pathOf(first!)
  return `${allowed}${givenAt(path, value)}`
}

/** Returns a path in the notation of `parameter`: `goals[0].value`. */
export const nameOfPath = (path: readonly string[]): string =>
  path
    .map((name, index) =>
      /^\d+$/.test(name) ? `[${name}]` : `${index === 0 ? '' : '.'}${cut(name)}`,
    )
    .join('')

export const pathOf = ({ instancePath }: Pick<Fault, 'instancePath'>): string[] =>
  instancePath
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Describes the allowed values. A value with several allowed forms has one violation for each. */
export function allowedBy(faults: readonly Fault[]): string {
  const [first] = faults
  const here = faults.filter(({ instancePath }) => instancePath === first!.instancePath)
  const choices = here.flatMap(choicesOf)
  if (choices.length > 0 && here.every(isAboutForm)) {
    return `must be ${listed([...new Set([...choices, ...typesOf(here)])])}`
  }
  if (first!.keyword === 'type') return `must be ${listed(typesOf(here))}`
  return ruleOf(first!)
}

const isAboutForm = ({ keyword }: Fault) =>
  ['enum', 'const', 'type', 'anyOf', 'oneOf'].includes(keyword)

function choicesOf({ keyword, params }: Fault): string[] {
  if (keyword === 'enum') return (params as { allowedValues: unknown[] }).allowedValues.map(quoted)
  if (keyword === 'const') return [quoted((params as { allowedValue: unknown }).allowedValue)]
  return []
}

const quoted = (value: unknown) => JSON.stringify(value)

const typeNames: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
}

const typesOf = (faults: readonly Fault[]): string[] => [
  ...new Set(
    faults
      .filter(({ keyword }) => keyword === 'type')
      .flatMap(({ params }) => (params as { type: string | string[] }).type)
      .map((type) => typeNames[type] ?? type),
  ),
]

function listed(names: readonly string[]): string {
  if (names.length < 3) return names.join(' or ')
  return `one of ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}

const formatNames: Record<string, string> = {
  uuid: 'a UUID',
  email: 'an e-mail address',
  uri: 'a URL',
  url: 'a URL',
  date: 'a day as YYYY-MM-DD',
  'date-time': 'a time as RFC 3339, such as 2026-01-31T12:00:00Z',
}

/** Describes the requirement of one keyword of JSON Schema. */
function ruleOf({ keyword, params }: Fault): string {
  const { limit, format, pattern, comparison, multipleOf } = params as Record<string, unknown>
  const names = (params as { additionalProperties?: string[] }).additionalProperties ?? []
  switch (keyword) {
    case 'format':
      return `must be ${formatNames[String(format)] ?? `a valid ${format}`}`
    case 'pattern':
      return `must match the pattern ${pattern}`
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `must be ${comparisons[String(comparison)] ?? comparison} ${limit}`
    case 'multipleOf':
      return `must be a multiple of ${multipleOf}`
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${limit} characters`
    case 'minItems':
      return `must have at least ${counted(limit, 'item')}`
    case 'maxItems':
      return `must have at most ${counted(limit, 'item')}`
    case 'uniqueItems':
      return 'must not have an item twice'
    case 'minProperties':
      return `must have at least ${counted(limit, 'field')}`
    case 'maxProperties':
      return `must have at most ${counted(limit, 'field')}`
    case 'required':
      return `requires ${(params as { requiredProperties: string[] }).requiredProperties.join(', ')}`
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `must not have ${names.slice(0, unknownNamesMax).map(cut).join(', ') || 'other fields'}`
    case 'boolean':
    case 'not':
      return 'is not allowed here'
    default:
      return 'has none of the allowed forms'
  }
}

const comparisons: Record<string, string> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'greater than',
  '<': 'less than',
}

const counted = (limit: unknown, noun: string) => `${limit} ${noun}${limit === 1 ? '' : 's'}`

/** Shortens a name or value for a message. */
const cut = (text: string) =>
  text.length > givenCharsMax ? `${text.slice(0, givenCharsMax)}…` : text

/** `(got …)` for a plain value that is no secret; empty otherwise. */
function givenAt(path: readonly string[], value: unknown): string {
  if (path.length === 0 || path.some((name) => isSecret.test(name))) return ''
  let actual = value
  for (const name of path) actual = (actual as Record<string, unknown> | undefined)?.[name]
  if (actual === undefined) return ''
  if (Array.isArray(actual)) return ` (got an array of ${counted(actual.length, 'item')})`
  if (typeof actual === 'object' && actual !== null) return ' (got an object)'
  return ` (got ${typeof actual === 'string' ? quoted(cut(actual)) : actual})`
}
