import { attribute } from '../element.ts'
import { capture } from '../queue.ts'

/** What footfall('set', …) gave: under the own properties of every later custom event of this page. */
const common: object = {}

export const set = (properties: object): void => {
  Object.assign(common, properties)
}

/** Copied at once: pages go on changing the objects they passed. */
export const track = (name: string, properties?: object): void => {
  if (name) {
    capture('custom', {
      name: `${name}`.slice(0, 100),
      properties: JSON.parse(JSON.stringify({ ...common, ...properties })),
    })
  }
}

/** The attribute that names an element's event. */
export const marking = 'data-footfall-event'
const prefix = 'data-footfall-prop-'

/** An element with data-footfall-event names an event, its data-footfall-prop-* are the properties. */
export const trackMarked = (element: Element): void => {
  const properties: Record<string, string> = {}
  for (const { name, value } of element.attributes) {
    if (name.startsWith(prefix)) properties[name.slice(prefix.length)] = value
  }
  track(attribute(element, marking)!, properties)
}
