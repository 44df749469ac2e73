import type { Description } from '../../schemas/noted.ts'

/** The page asks for silence in here. */
export const ignored = '[data-footfall-ignore]'
export const mask = '***'

/** The innermost of an event's path that a selector takes: unlike Element.closest, out of shadow roots too. */
export const find = (path: EventTarget[], selector: string): Element | undefined =>
  (path as Element[]).find((element) => element.matches?.(selector))

/**
 * What the collector reads identifiers, links and names from: attributes, not properties, for a form's `id` may be an
 * input of that name and an SVG's `className` is an object. Never a value.
 */
export const describe = (element: Element, showsLabels?: boolean, parent?: Element): Description => {
  const tag = element.localName
  const description: Description = {
    tag,
    href: (element as HTMLAnchorElement).href,
    nth: parent && [...parent.children].filter(({ localName }) => localName === tag).indexOf(element),
  }
  for (const { name, value } of element.attributes) {
    if (
      /^(id|class|name|role|action|method|download|data-(test|cy|qa|footfall))/.test(name) ||
      (showsLabels && /^(aria-label|title)/.test(name))
    ) {
      description[name] = value
    }
  }
  return description
}
