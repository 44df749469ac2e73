import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import Format from 'typebox/format'
import { canonicalizer } from './canonicalTexts.ts'
import { type ApiError, invalidParameter } from './errors.ts'
import { describeFault, type Fault, nameOfPath, pathOf } from './faultWords.ts'

// PostgreSQL has no year 0, and Date has no leap seconds.
const isStorable = (text: string) => !text.startsWith('0000') && !Number.isNaN(Date.parse(text))
Format.Set('date', (text) => Format.IsDate(text) && isStorable(text))
Format.Set('date-time', (text) => Format.IsDateTime(text) && isStorable(text))

/**
 * Validates requests with their route's TypeBox schemas. Path and query values are text, so numbers are
 * parsed first; bodies stay unchanged. The first violation is answered with 400 "invalid_parameter" and its
 * name.
 */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  // Compiled at the first request, which makes a process start a tenth faster.
  let compiled: Validator | undefined
  const read = {
    params: readNumbers,
    querystring: readNumbers,
    headers: readHeaders,
    body: orDefault,
  }[httpPart ?? '']
  const canonicalize = canonicalizer(schema)
  return (input: unknown) => {
    const value = canonicalize(read ? read(schema, input) : input)
    compiled ??= Compile(schema)
    const validator = compiled
    return validator.Check(value)
      ? { value: httpPart === 'headers' ? input : value }
      : { error: faultOf(schema, value, errorsOf(validator, value), httpPart ?? 'body') }
  }
}

/** More members than any object of a schema has. */
const membersMax = 1_000
/** The most array members that the first check reads. */
const lookedAtMax = 10_000

/**
 * Returns the violations of a value, in order. It checks the first members only. A search through a megabyte
 * of them, or through an object with very many members, would take seconds. jsonBody.ts limits the depth of
 * values.
 */
export function errorsOf(validator: Validator, value: unknown): readonly Fault[] {
  for (const part of [beginningOf(value, { left: lookedAtMax }), value]) {
    if (hasTooManyMembers(part)) return [tooManyMembers]
    const errors = validator.Errors(part)
    if (errors.length > 0) return errors
  }
  return []
}

/** A copy whose arrays have holes after the first members; the validator skips holes. */
function beginningOf(value: unknown, budget: { left: number }): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (!Array.isArray(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, beginningOf(member, budget)]),
    )
  const copy = new Array(value.length)
  for (let at = 0; at < value.length && budget.left-- > 0; at++)
    copy[at] = beginningOf(value[at], budget)
  return copy
}

function hasTooManyMembers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const members = Array.isArray(value) ? value : Object.values(value)
  return (!Array.isArray(value) && members.length > membersMax) || members.some(hasTooManyMembers)
}

const tooManyMembers = {
  instancePath: '',
  message: `must not have an object of more than ${membersMax} members`,
  keyword: 'maxProperties',
  params: { limit: membersMax },
} as const satisfies Fault

/** Parses path or query values that the schema declares as whole numbers or booleans. */
function readNumbers(schema: TSchema, given: unknown): unknown {
  const properties = propertiesOf(schema)
  const entries = Object.entries(given as Record<string, unknown>).map(([name, text]) => {
    const type = Object.hasOwn(properties, name) ? properties[name]!.type : undefined
    if (type === 'integer' && typeof text === 'string' && /^-?\d{1,16}$/.test(text))
      return [name, Number(text)]
    if (type === 'boolean' && (text === 'true' || text === 'false')) return [name, text === 'true']
    return [name, text]
  })
  return Object.fromEntries(entries)
}

/** Returns the body, or the schema's default if the request has none. */
const orDefault = (schema: TSchema, given: unknown): unknown =>
  given === null && 'default' in schema ? structuredClone(schema.default) : given

/** Reads the headers of a schema in its own spelling; Node stores header names in lower case. */
const readHeaders = (schema: TSchema, given: unknown): unknown =>
  Object.fromEntries(
    Object.keys(propertiesOf(schema))
      .map((name) => [name, (given as Record<string, unknown>)[name.toLowerCase()]])
      .filter(([, value]) => value !== undefined),
  )

/** Converts the first violation to a response. */
function faultOf(
  schema: TSchema,
  value: unknown,
  errors: readonly Fault[],
  part: string,
): ApiError {
  const [error] = errors
  if (!error) return invalidParameter(part, 'must match the schema of this route')
  const path = pathOf(error)
  if (error.keyword === 'required') {
    const { requiredProperties } = error.params as { requiredProperties: string[] }
    return invalidParameter(
      nameOfPath([...path, requiredProperties[0]!]),
      `is required in the ${partNames[part] ?? part}`,
    )
  }
  if (error === tooManyMembers) return invalidParameter(part, error.message)
  if (path.length === 0) return invalidParameter(part, 'must be a JSON object')
  const name = nameOfPath(path)
  if (error.keyword === 'boolean') return invalidParameter(name, 'there is no such parameter here')
  const [member] = path as [string]
  if (part === 'querystring' && Array.isArray((value as Record<string, unknown>)[member])) {
    return invalidParameter(name, 'must not be given more than once')
  }
  const declared = path.length === 1 ? propertiesOf(schema)[member] : undefined
  return invalidParameter(name, describeFault(errors, value, wordsFor(error, declared)))
}

const partNames: Readonly<Record<string, string>> = {
  querystring: 'query',
  headers: 'headers',
  params: 'path',
}

interface Declared {
  format?: string
  type?: string
  minimum?: number
  maximum?: number
  errorMessage?: string
}

const propertiesOf = (schema: TSchema) =>
  (schema as { properties?: Record<string, Declared> }).properties ?? {}

/** Returns the description of a complete parameter, if its schema says more than the failed keyword. */
function wordsFor({ keyword }: Fault, declared: Declared | undefined): string | undefined {
  if (declared?.errorMessage !== undefined) return declared.errorMessage
  if (declared?.type !== 'integer' || keyword === 'boolean') return undefined
  const { minimum, maximum } = declared
  if (minimum === undefined) return 'must be a whole number'
  return maximum === undefined
    ? `must be a whole number of at least ${minimum}`
    : `must be a whole number from ${minimum} to ${maximum}`
}
