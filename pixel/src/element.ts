import { settings } from './config.ts'
import { safely } from './guard.ts'

/** The page asks for silence, or for stars, in here. */
export const ignored = '[data-footfall-ignore]'
export const masked = '[data-footfall-mask]'
export const mask = '***'

/** Element.closest that climbs out of shadow roots. */
export const closest = (element: Element, selector: string): Element | null => {
  const { host } = element.getRootNode() as Partial<ShadowRoot>
  return element.closest(selector) || (host ? closest(host, selector) : null)
}

/** The innermost element of an event, inside open shadow roots too; none where we must not look. */
export const targetOf = (event: Event): Element | null => {
  const target = event.composedPath()[0] as Element
  return closest(target, ignored) ? null : target
}

/** Attributes, not properties: a form's `id` may be an input of that name, an SVG's `className` is an object. */
export const attribute = (element: Element, name: string): string | null => element.getAttribute(name)

/** An URL attribute made absolute; null when there is none. */
export const link = (element: Element, name: string): string | null => {
  const value = attribute(element, name)
  return (value && safely(() => new URL(value, document.baseURI).href.slice(0, 8192))()) || null
}

export const decoded = (text: string): string => safely(decodeURIComponent)(text) ?? text

/** Half a surrogate pair at the end would not survive as UTF-8. */
export const cut = (text: string, length = settings.text_length_max): string =>
  text.slice(0, length).replace(/[\ud800-\udbff]$/, '')

/** What a reader sees of an element: never what was typed into it, and stars for what the page masks. */
export const textOf = (element: Element): string => {
  if (closest(element, masked)) return mask
  if (/^INPUT(submit|button|reset)$/.test(element.tagName + (element as HTMLInputElement).type)) {
    return cut((element as HTMLInputElement).value)
  }
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  let text = ''
  while (text.length < settings.text_length_max && texts.nextNode()) {
    const parent = texts.currentNode.parentElement || element
    if (closest(parent, `script,style,textarea,[contenteditable],${ignored}`)) continue
    text += closest(parent, masked) ? mask : texts.currentNode.nodeValue
  }
  return cut(text.replace(/\s+/g, ' ').trim())
}

/** Short and stable: `#cart`, `[data-testid=buy]`, or up to five steps of a path that may begin with one. */
export const identifierOf = (element: Element, stepsBefore = 4): string => {
  const id = attribute(element, 'id') || ''
  const testId = attribute(element, 'data-testid')
  // Ids with long numbers or odd characters are made anew by frameworks on each load.
  if (/^(?!.*\d{3})[a-z][\w-]{0,99}$/i.test(id)) return `#${id}`
  if (testId) return `[data-testid=${cut(testId, 100)}]`
  const parent = stepsBefore && element.parentElement
  let place = 1
  for (let before = element.previousElementSibling; before; before = before.previousElementSibling) {
    if (before.tagName === element.tagName) place++
  }
  const step = element.localName + (place > 1 ? `:nth-of-type(${place})` : '')
  return parent ? `${identifierOf(parent, stepsBefore - 1)}>${step}` : step
}
