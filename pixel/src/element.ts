import type { Description } from '../../schemas/captured.ts'
import { ask, attempt, real } from './safe.ts'

export const mask = '***'

/**
 * A selector of the settings that this browser refuses masks everything, because its elements are unknown.
 */
const known = (selector: string): string =>
  config.ownMasks && attempt(() => document.documentElement.matches(selector)) === undefined
    ? '*'
    : selector

export const masked = known(config.masked)
export const unread = known(config.unread)

/**
 * A node and all its ancestors except the document, also outside of shadow roots, and also for events that do
 * not leave these.
 */
export const pathTo = (node: Node | false): Element[] => {
  const path = []
  for (
    ;
    node && node !== document;
    node = real(node, 'parentNode') || (node instanceof ShadowRoot && node.host)
  )
    path.push(node)
  return path as Element[]
}

/**
 * The innermost element of an event's path that matches a selector, also outside of shadow roots, unlike
 * Element.closest.
 */
export const find = (path: EventTarget[], selector: string): Element | undefined =>
  (path as Element[]).find((element) => ask(element, selector))

/**
 * Beginnings of id, class, name, role, action, method, download and similar names; labels where "true"
 * follows.
 */
const harmless = /^(id|cl|na|ro|ac|me|do|data-(test|cy|qa|footfall)|(aria-label|title|alt)true)/

/**
 * Attributes for the collector's identifiers, links and names. Not properties, because a form's `id` may be
 * an input of that name and an SVG's `className` is an object. Never a value; labels unless they are masked.
 * A step of a path may be a shadow root, which has no attributes.
 */
export const describe = (element: Element, isMasked: unknown): Description => {
  const tag = real(element, 'localName')
  const href = real(element as SVGAElement, 'href')
  let nth = 0
  for (let sibling: Element | null = element; sibling; sibling = sibling.previousElementSibling)
    nth += (sibling.localName === tag) as unknown as number
  const description: Description = {
    tag,
    // A link inside an SVG has an object in its place.
    href: href?.baseVal || href,
    nth,
  }
  for (const { name, value } of real(element, 'attributes') || [])
    if (harmless.test(name + !isMasked)) description[name] = value
  return description
}

/** The steps from an element outwards: the nearest ones, and all marked ones. */
export const steps = (element: Element, path: Element[]): Description[] => {
  const isMasked = find(path, masked)
  return path
    .slice(path.indexOf(element))
    .flatMap((step, at) =>
      at < 6 || ask(step, '[data-footfall-event]') ? describe(step, isMasked) : [],
    )
}
