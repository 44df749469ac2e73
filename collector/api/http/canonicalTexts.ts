import type { TSchema } from 'typebox'

/** The form in which handlers see a text of each format, so that equal ids and addresses are equal texts. */
const canonicalForms: Readonly<Record<string, (text: string) => string>> = {
  uuid: (id) => id.toLowerCase(),
  email: (address) => address.trim(),
}

/** A text within a value: the names of the members that lead to it, or `each` for all members of an array. */
interface TextPath {
  readonly path: readonly (string | typeof each)[]
  readonly format: string
}
const each = Symbol('each')

/**
 * Returns a function that brings the ids and addresses of a value to their canonical form, in place. It finds them by
 * the `format` of the schema, and leaves everything else to the validation.
 */
export function canonicalizer(schema: TSchema): (value: unknown) => unknown {
  const texts = textsIn(schema)
  return (value) => texts.reduce<unknown>((whole, text) => canonicalized(whole, text, 0), value)
}

/** The parts of a schema that contain other schemas. */
interface Nested {
  readonly format?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
}

function textsIn(schema: TSchema, path: TextPath['path'] = []): readonly TextPath[] {
  const { format = '', properties = {}, items, anyOf = [] } = schema as Nested
  return [
    ...(Object.hasOwn(canonicalForms, format) ? [{ path, format }] : []),
    ...Object.entries(properties).flatMap(([name, member]) => textsIn(member, [...path, name])),
    ...(items ? textsIn(items, [...path, each]) : []),
    ...anyOf.flatMap((one) => textsIn(one, path)),
  ]
}

function canonicalized(value: unknown, text: TextPath, depth: number): unknown {
  if (depth === text.path.length)
    return typeof value === 'string' ? canonicalForms[text.format]!(value) : value
  const name = text.path[depth]!
  if (name === each) {
    if (Array.isArray(value))
      value.forEach((member, index) => {
        value[index] = canonicalized(member, text, depth + 1)
      })
  } else if (typeof value === 'object' && value !== null && Object.hasOwn(value, name)) {
    const members = value as Record<string, unknown>
    members[name] = canonicalized(members[name], text, depth + 1)
  }
  return value
}
