import { Type } from 'typebox'
import {
  type Field,
  fieldNamed,
  hasProfile,
  isReadableAt,
  type Tier,
} from '../../../../schemas/fields.ts'
import { isUuid } from '../../../../schemas/uuid.ts'
import { invalidParameter } from '../../../api/http/errors.ts'
import { isUuidField } from '../columns.ts'
import { isoToMs } from '../window/window.ts'

/** The operators of the spec's `filter` parameter, and `in`: any of several values, separated by `|`. */
export const operators = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'like', 'in'] as const
export type Operator = (typeof operators)[number]

/** The compared value: a readable field, or a path into the JSON of event_data. */
type Operand =
  | { readonly field: Field; readonly path?: never }
  | { readonly path: readonly string[]; readonly field?: never }

/** A value in the operand's type; `time` is epoch milliseconds, `integer` the digits of an Int64. */
export type Value =
  | { readonly as: 'text' | 'uuid' | 'integer'; readonly value: string }
  | { readonly as: 'number' | 'time'; readonly value: number }
  | { readonly as: 'boolean'; readonly value: boolean }

/** One `field:op:value`, validated with the field table. All filters of a request must match. */
export type Filter = Operand &
  Value & {
    readonly op: Operator
    /** The further values of `in`, which have the same type. */
    readonly others?: readonly Value[]
  }

/** The names of a path into event_data, such as `event_data.properties.plan`; undefined for other texts. */
export function pathIntoEventData(text: string): readonly string[] | undefined {
  const [first, ...path] = text.split('.')
  const isPath = first === 'event_data' && path.length > 0 && path.length <= pathMax
  return isPath && /^[^,:]+$/.test(text) && path.every(Boolean) ? path : undefined
}

/** Most values of `in`. */
export const valuesMax = 100

/** More filters than people write by hand; each one costs ClickHouse work on every row. */
export const filtersMax = 100

/** Most names in a path into event_data; each one parses an object. */
const pathMax = 10
/** Most `%` in a pattern of `like`, because ClickHouse tries every way to divide a text between them. */
const wildcardsMax = 10

/** Maximum names of all paths together: each is a parameter, and ClickHouse accepts a thousand. */
const pathNamesMax = 300

const grammar =
  `Comma-separated conditions field:op:value, at most ${filtersMax}. All of them must match. Operators: ` +
  `${operators.join(', ')}. A comma separates conditions only before field:op:, so values may contain commas and ` +
  'colons. Values have the type of the field. `ne` also matches rows without a value. `like` supports _ and up to ' +
  `${wildcardsMax} %, and a backslash escapes them. \`in\` accepts up to ` +
  `${valuesMax} values separated by |, which the values cannot contain. A value outside the list of a field with ` +
  'fixed values is answered with 400. At resolution tiers, has_profile:eq:true excludes visitors without a profile. ' +
  'Dotted paths such as event_data.element.className read the payload: eq, ' +
  `ne and like compare text, and gt, gte, lt and lte compare numbers. All paths together have at most ${pathNamesMax} names.`

const examples = ['event_type:eq:click,page_path:like:/checkout%']

/** The parameter `filter`; readFilters reads it. */
export const FilterText = Type.String({ description: grammar, examples })

/** The filter of routes of the tier web_event and of analytics, which accept no identity fields. */
export const EventFilterText = Type.String({
  examples,
  description: `${grammar} Event fields only, including resolved.`,
})

const operandPattern = '(?:event_data(?:\\.[^,:.]+)+|\\w+)'

/** A comma ends a filter only if the next filter follows, so values may contain commas and colons. */
const boundary = new RegExp(`,(?=${operandPattern}:(?:${operators.join('|')}):)`)

const filterPattern = new RegExp(`^(?<operand>${operandPattern}):(?<op>\\w+):(?<value>[^]*)$`)

export type FieldOf = (name: string) => Field | undefined

/**
 * Reads the `filter` parameter of a request at `tier`. Throws 400 that quotes the filter, for text that is
 * not field:op:value, and for an unknown field or one above the tier. Also throws for an operator that is
 * unknown or does not suit the field, and for a value of another type (spec: Events, version 3).
 * `fieldOf` names other fields.
 */
export function readFilters(
  text: string,
  tier: Tier,
  fieldOf: FieldOf = fieldNamed,
): readonly Filter[] {
  const pieces = text.split(boundary)
  if (pieces.length > filtersMax)
    throw invalidParameter('filter', `must contain at most ${filtersMax} filters`)
  const filters = pieces.map((piece) => readFilter(piece, tier, fieldOf))
  if (filters.flatMap(({ path }) => path ?? []).length > pathNamesMax) {
    throw invalidParameter(
      'filter',
      `must contain paths into event_data of at most ${pathNamesMax} names together`,
    )
  }
  return filters
}

/** Reads a filter from separate texts. Throws 400 like readFilters. */
export function readFilterOf(
  parts: { field: string; op: string; value: string },
  tier: Tier,
): Filter {
  return filterOf(parts, tier, refusing(`${parts.field}:${parts.op}:${parts.value}`))
}

function readFilter(piece: string, tier: Tier, fieldOf: FieldOf): Filter {
  const refuse = refusing(piece)
  const parts = filterPattern.exec(piece)?.groups
  if (!parts) throw refuse('must be field:op:value')
  return filterOf(
    { field: parts.operand!, op: parts.op!, value: parts.value! },
    tier,
    refuse,
    fieldOf,
  )
}

const refusing = (piece: string) => (reason: string) => {
  const shown = piece.length > 200 ? `${piece.slice(0, 200)}…` : piece
  return invalidParameter('filter', `"${shown}": ${reason}`)
}

function filterOf(
  parts: { field: string; op: string; value: string },
  tier: Tier,
  refuse: (reason: string) => Error,
  fieldOf: FieldOf = fieldNamed,
): Filter {
  const [name, ...path] = parts.field.split('.')
  const op = operators.find((operator) => operator === parts.op)
  if (!op) throw refuse(`the operator must be one of ${operators.join(', ')}`)
  const field = name === hasProfile.name ? hasProfile : fieldOf(name!)
  if (!field) throw refuse(`there is no field ${name}`)
  if (!isReadableAt(field, tier))
    throw refuse(`"${name}" is not part of ${tier}: it requires ${field.tier}`)

  if (path.length > pathMax)
    throw refuse(`a path into event_data must have at most ${pathMax} names`)

  const texts = op === 'in' ? parts.value.split('|') : [parts.value]
  if (texts.length > valuesMax) throw refuse(`in must have at most ${valuesMax} values`)
  const wildcards = op === 'like' ? parts.value.split('%').length - 1 : 0
  if (wildcards > wildcardsMax)
    throw refuse(`like must have at most ${wildcardsMax} "%" (got ${wildcards})`)
  const [first, ...others] = texts.map((text) => {
    const typed = path.length > 0 ? payloadValue(op, text) : fieldValue(field, op, text)
    if (typeof typed === 'string') throw refuse(typed)
    return typed
  })
  const operand = path.length > 0 ? { path } : { field }
  return { ...operand, op, ...first!, ...(op === 'in' && { others }) }
}

/** Whether an operator compares the complete value. */
const isExact = (op: Operator): boolean => op === 'eq' || op === 'ne' || op === 'in'

/**
 * A payload has no declared types: operators with an order compare numbers, all others text. Returns a string
 * for an error.
 */
function payloadValue(op: Operator, text: string): Value | string {
  if (isExact(op) || op === 'like') return { as: 'text', value: text }
  return numberValue(text)
}

function fieldValue(field: Field, op: Operator, text: string): Value | string {
  if (field.dataType === 'Utf8') {
    // A value that the field never has would find nothing, so it is treated as a mistake.
    if (field.values && isExact(op) && !field.values.includes(text)) {
      return `${field.name} must be one of ${field.values.join(', ')}`
    }
    if (field.isAddress && isExact(op)) return { as: 'text', value: text.trim() }
    if (op === 'like' || !isUuidField(field)) return { as: 'text', value: text }
    if (!isUuid(text)) return 'the value must be a UUID'
    // ClickHouse orders UUIDs differently than their texts, and callers see the texts.
    return { as: isExact(op) ? 'uuid' : 'text', value: text.toLowerCase() }
  }
  if (op === 'like') return 'like requires a text field'
  switch (field.dataType) {
    case 'Boolean':
      if (!isExact(op)) return 'true and false have no order: use eq or ne'
      if (text !== 'true' && text !== 'false') return 'the value must be true or false'
      return { as: 'boolean', value: text === 'true' }
    case 'Int64':
      return integerValue(text)
    case 'Float64':
      return numberValue(text)
    case 'Timestamp': {
      const ms = isoToMs(text)
      return ms === undefined ? 'the value must be an ISO 8601 time' : { as: 'time', value: ms }
    }
  }
}

function integerValue(text: string): Value | string {
  if (!/^-?\d{1,19}$/.test(text)) return 'the value must be a whole number'
  const integer = BigInt(text)
  if (BigInt.asIntN(64, integer) !== integer) return 'the value must be a 64-bit integer'
  return { as: 'integer', value: String(integer) }
}

function numberValue(text: string): Value | string {
  const number = Number(text)
  if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) || !Number.isFinite(number))
    return 'the value must be a number'
  return { as: 'number', value: number }
}
