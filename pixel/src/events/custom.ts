import { describe } from '../element.ts'
import { note } from '../queue.ts'

/** What footfall('set', …) gave: under the own properties of every later custom event of this page. */
const common: object = {}

export const set = (properties: object): void => {
  Object.assign(common, properties)
}

/** Copied at once: pages go on changing the objects they passed. */
export const track = (name: string, properties?: object): void => {
  if (name) note('custom', { name, properties: JSON.parse(JSON.stringify({ ...common, ...properties })) })
}

/** An element with data-footfall-event names an event, its data-footfall-prop-* are the properties. */
export const noteMarked = (element?: Element): void => {
  if (element) note('custom', { element: describe(element), properties: { ...common } })
}
