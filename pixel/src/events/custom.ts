import { note } from '../queue.ts'

/** What footfall('set', …) gave: under the own properties of every later custom event of this page. */
export let common: object | undefined

export const set = (properties: object): void => {
  common = { ...common, ...properties }
}

export const track = (name: string, own?: object): void => {
  const properties = { ...common, ...own }
  note('track', () => ({ name, properties }))
}
