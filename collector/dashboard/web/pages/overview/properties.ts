import type { Property } from './dimensions.ts'

/** The API's name of all properties of an event: a dimension whose values are JSON objects. */
export const properties = 'event_data.properties'

/** Returns the properties named by JSON objects; a path into event_data cannot contain some characters. */
export function propertiesIn(sets: readonly (string | null)[]): Property[] {
  const names = sets.flatMap((set) =>
    set === null ? [] : Object.keys(JSON.parse(set) as Readonly<Record<string, unknown>>),
  )
  return [...new Set(names)]
    .filter((name) => /^[^.,:]+$/.test(name))
    .sort()
    .map((name): Property => `${properties}.${name}`)
}
