import type { Description } from '../../schemas/captured.ts'
import { ask, attempt, real, short } from './safe.ts'

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
 * A node and all its ancestors except the document, as they are shown: inside the slots that show them, and outside of
 * shadow roots. Also for events that do not leave these.
 */
export const pathTo = (node: Node | false): Element[] => {
  const path = []
  for (
    ;
    node && node !== document;
    node =
      real(node as Element, 'assignedSlot') ||
      real(node, 'parentNode') ||
      ((node as ShadowRoot).mode && (node as ShadowRoot).host)
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
  let sibling: Element | null = element
  // Long lists take too long to count, and change often.
  for (let left = 999; left-- && sibling; sibling = sibling.previousElementSibling)
    nth += (sibling.localName === tag) as unknown as number
  const description: Description = {
    tag,
    // A link inside an SVG has an object in its place.
    href: href && short((href.baseVal || href) as string),
    nth: sibling ? 0 : nth,
  }
  for (const { name, value } of real(element, 'attributes') || [])
    if (harmless.test(name + !isMasked)) description[name] = value.slice(0, 999)
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
