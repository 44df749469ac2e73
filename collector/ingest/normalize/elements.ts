import type { PixelSettings } from '../../../schemas/beacon.ts'
import type { Description } from '../../../schemas/captured.ts'
import { textLengthMax, urlLengthMax } from '../../../schemas/events/common.ts'
import { isObject } from '../../platform/json.ts'
import { clean, cut, isText, numberOf, textOf } from './text.ts'
import type { Data } from './validateEvent.ts'

/** The pixel's replacement for a masked text. */
const mask = '***'
const propertyPrefix = 'data-footfall-prop-'
const classLengthMax = 1000
const nameLengthMax = 1000
/** Longest name, type and autocomplete of a field. */
const fieldLengthMax = 1000
/** Number of steps nearest to the click; only the marks of later steps are used. */
const nearSteps = 6

/** The data of a click, from its captured data; undefined if scripts made it without an element. */
export function normalizeClick(data: Data, { text_length_max }: PixelSettings): Data | undefined {
  const { path, clientX, clientY } = data
  const steps = nearStepsOf(path)
  const [element] = steps
  if (!element) return
  const link = linkKind(hrefOf(linkIn(path), data.url), data.url)
  return {
    element: {
      ariaLabel: cut(element['aria-label'], text_length_max) ?? null,
      className: cut(element.class, classLengthMax) ?? '',
      tagName: cut(element.tag, nameLengthMax)!.toUpperCase(),
      id: cut(element.id, nameLengthMax) ?? null,
      href: hrefOf(element, data.url),
    },
    elementIdentifier: identifierOf(steps),
    elementText: cut(textIn(data, element), text_length_max),
    coordinates: { x: numberOf(clientX) || 0, y: numberOf(clientY) || 0 },
    ...(link && { link }),
  }
}

/** The text of an element, its label, or the label of its content. */
function textIn({ text, label }: Data, element: Description): string | undefined {
  // The content of a field is private, so its mask has no meaning.
  if (text === mask && isField(element)) return ''
  return clean(text) || labelOf(element) || labelOf(label) || ''
}

const labelOf = (element: unknown): string | undefined =>
  isObject(element)
    ? [element['aria-label'], element.alt, element.title].map(clean).find(Boolean)
    : undefined

/** Returns the custom event of a click that the pixel classified: rage_click or dead_click. */
export function judgedFrom(data: Data, settings: PixelSettings, type: string): Data | undefined {
  const click = normalizeClick(data, settings)
  if (!click) return
  const { elementIdentifier, elementText, coordinates } = click
  return { name: `${type}_click`, properties: { elementIdentifier, elementText, coordinates } }
}

/** Returns the download of a click: on a link that declares one, or that leads to a file. */
export function normalizeDownload(
  { path, url }: Data,
  { download_extensions }: PixelSettings,
): Data | undefined {
  const link = linkIn(path)
  const href = hrefOf(link, url)
  if (!link || !href) return
  const place = href.split(/[?#]/, 1)[0]!
  const filename = cut(
    textOf(link.download) || decoded(place.slice(place.lastIndexOf('/') + 1)),
    textLengthMax,
  )!
  const extension = extensionOf(filename)
  const isFile =
    URL.canParse(href) && download_extensions.includes(extensionOf(new URL(href).pathname))
  return link.download === undefined && !isFile ? undefined : { href, filename, extension }
}

/** Returns the custom event that the innermost of some elements defines by data-footfall-event. */
export function normalizeMarked(path: unknown, common: unknown): Data | undefined {
  const element = stepsOf(path).find((step) => 'data-footfall-event' in step)
  const name = element && cut(element['data-footfall-event'], 100)
  if (!name) return
  const own = Object.entries(element)
    .filter(([key]) => key.startsWith(propertyPrefix))
    .map(([key, value]) => [key.slice(propertyPrefix.length), value])
  return { name, properties: { ...(isObject(common) && common), ...Object.fromEntries(own) } }
}

/** Returns the data of a form's submission; undefined if a script submitted without a form. */
export function normalizeForm({ form, fields, url, base }: Data): Data | undefined {
  if (!isDescription(form)) return
  return {
    form: {
      id: cut(form.id, nameLengthMax) ?? null,
      name: cut(form.name, nameLengthMax) ?? null,
      action: absolute(form.action, textOf(base) ?? url),
      method: (cut(form.method, nameLengthMax) || 'get').toLowerCase(),
    },
    fields: [...new Set(fieldsIn(fields).map(({ name }) => name))].slice(0, 500),
  }
}

export interface Field {
  name: string
  query: string | undefined
}

const secretTypes = 'hidden|password'
const buttonTypes = 'button|fieldset|image|output|reset|submit'
const fieldTypes =
  'checkbox|color|date|datetime-local|email|file|month|number|radio|range|search|select-multiple|select-one|tel|text|textarea|time|url|week'
const fieldPattern = RegExp(`^(.+?) (${secretTypes}|${buttonTypes}|${fieldTypes}) ?(.*)$`, 's')
const keptPattern = RegExp(`^(${fieldTypes})$`)

/** Returns the fields of a captured form, without secret and invalid ones. */
export const fieldsIn = (fields: unknown): Field[] =>
  (Array.isArray(fields) ? fields : []).flatMap((field: unknown) => {
    const [kind, query] = Array.isArray(field) ? field : []
    const [, name = '', type = '', autocomplete = ''] =
      fieldPattern.exec(cut(kind, fieldLengthMax) ?? '') ?? []
    return keptPattern.test(type) && !/\bcc-/.test(autocomplete)
      ? [{ name, query: textOf(query) }]
      : []
  })

const isDescription = (value: unknown): value is Description => isObject(value) && isText(value.tag)

const isField = ({ tag }: Description) => ['input', 'select', 'option', 'textarea'].includes(tag)

/** Returns the elements of a path, without shadow roots. */
export const stepsOf = (path: unknown): Description[] =>
  Array.isArray(path) ? path.filter(isDescription) : []

export const nearStepsOf = (path: unknown): Description[] =>
  stepsOf(Array.isArray(path) && path.slice(0, nearSteps))

/** Returns the innermost link of a path. */
const linkIn = (path: unknown): Description | undefined =>
  stepsOf(path).find(({ tag, href }) => ['a', 'area'].includes(tag) && textOf(href))

export const isInLink = (path: unknown): boolean => linkIn(path) !== undefined

/** Returns the URL of an element. A link inside an SVG contains it unresolved. */
const hrefOf = (element: Description | undefined, url: unknown): string | null =>
  absolute(element?.href, url) ?? urlOf(element?.href)

/** Returns a URL, truncated to the stored length. */
export const urlOf = (value: unknown): string | null => cut(value, urlLengthMax) || null

/** Returns the extension in lower case, without the dot; empty if a name has none. */
function extensionOf(name: string): string {
  const extension = name.slice(name.lastIndexOf('.') + 1)
  const isOne =
    extension.length < name.length && extension.length <= 100 && !extension.includes('/')
  return isOne ? extension.toLowerCase() : ''
}

const absolute = (value: unknown, base: unknown): string | null => {
  const [url, from] = [urlOf(value), urlOf(base)]
  return url && from && URL.canParse(url, from) ? urlOf(new URL(url, from).href) : null
}

const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** The effect of a link that does not lead to another page of the same site; undefined for one that does. */
function linkKind(href: string | null, url: unknown): 'outbound' | 'tel' | 'mailto' | undefined {
  if (!href || !URL.canParse(href)) return
  const { protocol, hostname } = new URL(href)
  if (protocol === 'tel:') return 'tel'
  if (protocol === 'mailto:') return 'mailto'
  const page = urlOf(url)
  const isWeb = protocol === 'http:' || protocol === 'https:'
  if (isWeb && page && URL.canParse(page) && new URL(page).hostname !== hostname) return 'outbound'
}

const stepsMax = 5
const lengthMax = 100
const testIds = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa']

/**
 * Returns a short CSS selector of a clicked element that stays the same after the next release of the page.
 * It is its id, its test attribute, or its role and name. Otherwise it is a path of at most five steps that
 * begins with such an element if there is one. It never uses class names, which builds generate.
 */
export function identifierOf(steps: readonly Description[]): string {
  let path = ''
  for (const [at, step] of steps.slice(0, stepsMax).entries()) {
    const name = nameOf(step) ?? (at === 0 ? roleAndName(step) : undefined)
    path = (name ?? placeOf(step)) + (path && `>${path}`)
    if (name) break
  }
  return path
}

function nameOf(step: Description): string | undefined {
  if (isLasting(step.id)) return `#${step.id}`
  const testId = testIds.find((name) => isShort(step[name]))
  return testId && selector(testId, step[testId] as string)
}

function roleAndName(step: Description): string | undefined {
  const { role } = step
  const tag = isShort(role) ? selector('role', role) : step.tag
  const by = ['aria-label', 'name'].find((name) => isShort(step[name]))
  return by && tag + selector(by, step[by] as string)
}

const placeOf = ({ tag, nth }: Description): string =>
  typeof nth === 'number' && nth > 1 ? `${tag}:nth-of-type(${nth})` : tag

const selector = (attribute: string, value: string): string =>
  `[${attribute}=${/^[a-z][\w-]*$/i.test(value) ? value : JSON.stringify(value)}]`

const isShort = (value: unknown): value is string =>
  isText(value) && value !== '' && value.length <= lengthMax

/** New ids of frameworks have long numbers, unusual characters, or look like a hash. */
const isLasting = (id: unknown): id is string =>
  isShort(id) &&
  /^[a-z][\w-]*$/i.test(id) &&
  !/\d{3}/.test(id) &&
  !/(?=[a-f]*\d)[\da-f]{8}/i.test(id)
