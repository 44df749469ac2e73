/** A dimension of the API: a property of events. */
export type Property = `event_data.properties.${string}`

/** The API's name of all properties of an event: a dimension whose values are JSON objects. */
export const properties = 'event_data.properties'

/** Most samples of a property. */
const samplesMax = 3

/**
 * Returns the properties in JSON objects with their first different values, those with numbers first. A goal
 * reads its value from one of them.
 */
export function samplesIn(sets: readonly (string | null)[]): [name: string, samples: string[]][] {
  const isNumber = (text: string) => text.trim() !== '' && Number.isFinite(Number(text))
  const objects = sets.flatMap((set) =>
    set === null ? [] : [JSON.parse(set) as Readonly<Record<string, unknown>>],
  )
  return propertiesIn(sets)
    .map((path): [string, string[]] => {
      const name = path.slice(properties.length + 1)
      const values = objects
        .map((object) => object[name])
        .filter((value) => ['string', 'number', 'boolean'].includes(typeof value))
      return [name, [...new Set(values.map(String))].slice(0, samplesMax)]
    })
    .filter(([, samples]) => samples.length > 0)
    .sort(([, one], [, other]) => Number(other.some(isNumber)) - Number(one.some(isNumber)))
}

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
