import type { Schema } from '../../api/openapi/document.ts'

/** A member of a JSON value at any depth. */
export interface Property {
  /** The path, such as "rows[].event_id". */
  path: string
  type: string
  isRequired: boolean
  /** Limits of its value: allowed values, default, range. */
  limits: string[]
  description: string | undefined
}

/**
 * Returns every member of a schema, depth first, without the members of schemas that have one of the titles
 * `omitted`. `always` are the members that the enclosing schemas require.
 */
export function propertiesOf(
  schema: Schema,
  omitted: ReadonlySet<string> = new Set(),
  path = '',
  always: readonly string[] = [],
): Property[] {
  const { properties = {} } = schema
  const inside = (part: Schema, path: string, required?: readonly string[]): Property[] =>
    isNamed(part, omitted) ? [] : propertiesOf(part, omitted, path, required)
  const required = [...always, ...(schema.required ?? [])]
  const own = Object.entries(properties).flatMap(([name, member]) => {
    const memberPath = path ? `${path}.${name}` : name
    return [
      {
        path: memberPath,
        type: typeOf(member, omitted),
        isRequired: required.includes(name),
        limits: limitsOf(member),
        description: member.description,
      },
      ...inside(member, memberPath),
    ]
  })
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return uniqueByPath([
    ...own,
    ...inner.flatMap((part) => inside(part, path, required)),
    ...(schema.items ? inside(schema.items, `${path}[]`) : []),
  ])
}

/** Alternatives may have the same members, each of which is listed once. */
const uniqueByPath = (properties: Property[]): Property[] =>
  [
    ...new Map(properties.toReversed().map((property) => [property.path, property])).values(),
  ].toReversed()

const isNamed = ({ title }: Schema, names: ReadonlySet<string>): boolean =>
  title !== undefined && names.has(title)

/**
 * Returns a type such as "string (uuid) or null". A schema with one of the titles `named` has its title as
 * type.
 */
export function typeOf(schema: Schema, named: ReadonlySet<string> = new Set()): string {
  if (isNamed(schema, named)) return schema.title!
  const { type, format, items, anyOf, oneOf, const: value, enum: values } = schema
  const parts = anyOf ?? oneOf
  if (parts) return [...new Set(parts.map((part) => typeOf(part, named)))].join(' or ')
  if (type === undefined) return value !== undefined || values ? 'one of' : 'any'
  const types = [type].flat().map((name) => {
    if (name === 'array' && items) return `array of ${typeOf(items, named)}`
    return format && name !== 'null' ? `${name} (${format})` : name
  })
  return types.join(' or ')
}

export function limitsOf(schema: Schema): string[] {
  const {
    enum: values,
    const: value,
    default: given,
    examples: [example] = [],
    minimum,
    maximum,
    maxLength,
    maxItems,
  } = schema
  return [
    ...(values ? [values.map((each) => `\`${String(each)}\``).join(', ')] : []),
    ...(value === undefined ? [] : [`\`${String(value)}\``]),
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems} items`]),
    ...(example === undefined || values || given !== undefined
      ? []
      : [`for example \`${String(example)}\``]),
    ...(given === undefined ? [] : [`default \`${JSON.stringify(given)}\``]),
  ]
}
