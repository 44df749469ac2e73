import type { Schema } from './document.ts'

/** A member of a JSON value, wherever in it. */
export interface Property {
  /** "rows[].event_id". */
  path: string
  type: string
  isRequired: boolean
  /** What else holds of its value: its values, default, range. */
  limits: string[]
  description: string | undefined
}

/** Every member that a schema names, depth first; `always` are those that the schemas around it require. */
export function propertiesOf(
  schema: Schema,
  path = '',
  always: readonly string[] = [],
): Property[] {
  const { properties = {} } = schema
  const required = [...always, ...(schema.required ?? [])]
  const own = Object.entries(properties).flatMap(([name, member]) => {
    const memberPath = path ? `${path}.${name}` : name
    return [
      {
        path: memberPath,
        type: typeOf(member),
        isRequired: required.includes(name),
        limits: limitsOf(member),
        description: member.description,
      },
      ...propertiesOf(member, memberPath),
    ]
  })
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return uniqueByPath([
    ...own,
    ...inner.flatMap((part) => propertiesOf(part, path, required)),
    ...(schema.items ? propertiesOf(schema.items, `${path}[]`) : []),
  ])
}

/** Alternatives share members: each is told once. */
const uniqueByPath = (properties: Property[]): Property[] =>
  [
    ...new Map(properties.toReversed().map((property) => [property.path, property])).values(),
  ].toReversed()

/** "string (uuid) or null". */
export function typeOf({
  type,
  format,
  items,
  anyOf,
  oneOf,
  const: value,
  enum: values,
}: Schema): string {
  const parts = anyOf ?? oneOf
  if (parts) return [...new Set(parts.map(typeOf))].join(' or ')
  if (type === undefined) return value !== undefined || values ? 'one of' : 'any'
  const types = [type].flat().map((name) => {
    if (name === 'array' && items) return `array of ${typeOf(items)}`
    return format && name !== 'null' ? `${name} (${format})` : name
  })
  return types.join(' or ')
}

export function limitsOf(schema: Schema): string[] {
  const {
    enum: values,
    const: value,
    default: given,
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
    ...(given === undefined ? [] : [`default \`${JSON.stringify(given)}\``]),
  ]
}
