import { describe } from '../element.ts'
import { note, type Tell } from '../queue.ts'

/** What footfall('set', …) gave: under the own properties of every later custom event of this page. */
const common: object = {}

export const set = (properties: object): void => {
  Object.assign(common, properties)
}

/** Copied at once: pages go on changing the objects they passed. */
export const track = (name: string, own?: object): void => {
  const properties = JSON.parse(JSON.stringify({ ...common, ...own }))
  if (name) note('custom', { name, properties })
}

/** An element with data-footfall-event names an event, its data-footfall-prop-* are the properties. */
export const tellMarked = (tell: Tell, element?: Element): void => {
  if (element) tell('custom', { element: describe(element), properties: common })
}
