import type { TSchema } from 'typebox'

/** The form in which handlers see a text of each format, so that equal ids and addresses are equal texts. */
const canonicalForms: Readonly<Record<string, (text: string) => string>> = {
  uuid: (id) => id.toLowerCase(),
  email: (address) => address.trim(),
}

/** A text within a value: the names of the members that lead to it, or `each` for all members of an array. */
interface Place {
  readonly path: readonly (string | typeof each)[]
  readonly format: string
}
const each = Symbol('each')

/**
 * Returns a function that brings the ids and addresses of a value to their canonical form, in place. It finds them by
 * the `format` of the schema, and leaves everything else to the validation.
 */
export function canonicalizer(schema: TSchema): (value: unknown) => unknown {
  const places = placesOf(schema)
  return (value) => places.reduce<unknown>((whole, place) => canonicalized(whole, place, 0), value)
}

/** The parts of a schema that contain other schemas. */
interface Nested {
  readonly format?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
}

function placesOf(schema: TSchema, path: Place['path'] = []): readonly Place[] {
  const { format = '', properties = {}, items, anyOf = [] } = schema as Nested
  return [
    ...(Object.hasOwn(canonicalForms, format) ? [{ path, format }] : []),
    ...Object.entries(properties).flatMap(([name, member]) => placesOf(member, [...path, name])),
    ...(items ? placesOf(items, [...path, each]) : []),
    ...anyOf.flatMap((one) => placesOf(one, path)),
  ]
}

function canonicalized(value: unknown, place: Place, depth: number): unknown {
  if (depth === place.path.length)
    return typeof value === 'string' ? canonicalForms[place.format]!(value) : value
  const name = place.path[depth]!
  if (name === each) {
    if (Array.isArray(value))
      value.forEach((member, index) => {
        value[index] = canonicalized(member, place, depth + 1)
      })
  } else if (typeof value === 'object' && value !== null && Object.hasOwn(value, name)) {
    const members = value as Record<string, unknown>
    members[name] = canonicalized(members[name], place, depth + 1)
  }
  return value
}
