import type { PixelSettings } from '../../schemas/beacon.ts'
import type { Description } from '../../schemas/noted.ts'
import { identifierOf } from './identifier.ts'
import { stripSecrets } from './secrets.ts'
import { isObject } from './validate.ts'

type Data = Record<string, unknown>

/**
 * Completes an event's data where the pixel sent only what the page alone can know (schemas/noted.ts), and takes
 * secrets out of its URLs. Data that came complete stays as it is. Whatever a sender made up, this throws nothing:
 * what cannot be completed is left for the event's schema to refuse.
 */
export function derive(event: unknown, settings: PixelSettings): void {
  if (!isObject(event) || !isObject(event.event_data)) return
  const complete = completers[event.event_type as keyof typeof completers]
  if (complete) event.event_data = complete(event.event_data, settings)
  stripSecrets(event.event_data as Data, settings)
}

const completers = {
  page_view: (data: Data): Data =>
    data.referrer === '' || `${data.title}`.length > titleLengthMax
      ? { ...data, referrer: data.referrer || null, title: cut(data.title, titleLengthMax) }
      : data,

  click(data: Data, { text_length_max }: PixelSettings): Data {
    if (!Array.isArray(data.path)) return data
    const { path, clicks, reacted, coordinates, elementText, ...rest } = data
    const steps = path.filter(isDescription)
    const [element] = steps
    if (!element) return data
    const href = urlOf(element.href)
    const link = linkKind(href, data.url)
    return {
      ...rest,
      element: {
        ariaLabel: cut(element['aria-label'], text_length_max) ?? null,
        className: cut(element.class, classLengthMax) ?? '',
        tagName: element.tag.toUpperCase(),
        id: text(element.id) ?? null,
        href,
      },
      elementIdentifier: identifierOf(steps),
      // What stands in a field is nobody's business; of a field that is needless to say.
      elementText: isControl(element) && elementText === mask ? '' : cut(clean(elementText), text_length_max),
      coordinates,
      ...(link && { link }),
      ...(typeof clicks === 'number' && clicks >= rageClicks && { rage: true }),
      ...(reacted === false && !href && !isControl(element) && { dead: true }),
    }
  },

  copy: (data: Data): Data => ({ ...data, text: cut(data.text, Number.POSITIVE_INFINITY) }),

  form_submission(data: Data): Data {
    const { form, fields } = data
    if (!isDescription(form)) return data
    return {
      ...data,
      form: {
        id: text(form.id) ?? null,
        name: text(form.name) ?? null,
        action: absolute(form.action, data.url),
        method: (text(form.method) || 'get').toLowerCase(),
      },
      fields: Array.isArray(fields) ? [...new Set(fields.filter(Boolean))].slice(0, 500) : fields,
    }
  },

  search(data: Data, { search_parameters, text_length_max }: PixelSettings): Data {
    const { query, results_count } = data
    if (results_count !== undefined && typeof results_count !== 'string') return data
    // The page says how many it found; where the URL does not show this search, it says so of another.
    const isShown = queries(data.url, search_parameters).includes(`${query}`)
    const count = isShown ? Number.parseInt(`${results_count}`, 10) : Number.NaN
    return { ...data, query: cut(clean(query), text_length_max), results_count: count >= 0 ? count : null }
  },

  video(data: Data): Data {
    if (!isDescription(data.element)) return data
    const { element, action, position, duration, src, ...rest } = data
    const percent = Math.min(100, (100 * Number(position)) / Number(duration)) || 0
    return {
      ...rest,
      src: cut(src, srcLengthMax),
      title: text(element.title) || text(element['aria-label']) || null,
      action: action === 'timeupdate' ? 'progress' : action,
      position,
      duration,
      // A quarter is reported by the first time past it.
      percent: action === 'timeupdate' ? Math.floor(percent / 25) * 25 : Math.floor(percent),
    }
  },

  download(data: Data): Data {
    if (!isDescription(data.element)) return data
    const { element, ...rest } = data
    const href = urlOf(element.href)
    const filename = text(element.download) || decoded(/[^/]*$/.exec((href ?? '').split(/[?#]/)[0]!)![0])
    const extension = (/\.([^.]{1,100})$/.exec(filename)?.[1] ?? '').toLowerCase()
    return { ...rest, href, filename, extension }
  },

  custom(data: Data): Data {
    if (!isDescription(data.element) || data.name !== undefined) return data
    const { element, properties, ...rest } = data
    const own = Object.entries(element)
      .filter(([name]) => name.startsWith(propertyPrefix))
      .map(([name, value]) => [name.slice(propertyPrefix.length), value])
    return {
      ...rest,
      name: cut(element['data-footfall-event'], 100),
      properties: { ...(isObject(properties) ? properties : {}), ...Object.fromEntries(own) },
    }
  },
}

/** What the pixel sends in place of a text that is masked. */
const mask = '***'
const propertyPrefix = 'data-footfall-prop-'
const titleLengthMax = 1000
const classLengthMax = 1000
const srcLengthMax = 2048
const urlLengthMax = 8192
/** So many clicks in a row at one place are an angry visitor's. */
const rageClicks = 3

/** Fields and players answer a click by themselves, without a change of the page. */
const isControl = ({ tag }: Description) =>
  ['input', 'select', 'option', 'textarea', 'label', 'video', 'audio'].includes(tag)

const isDescription = (value: unknown): value is Description =>
  isObject(value) && typeof value.tag === 'string'

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** At most so many characters; half a surrogate pair at the end would not survive as UTF-8. */
const cut = (value: unknown, length: number): string | undefined =>
  text(value)
    ?.slice(0, length)
    .replace(/[\ud800-\udbff]$/, '')

const clean = (value: unknown) => text(value)?.replace(/\s+/g, ' ').trim()

/** An address, cut to what is stored of one. A link inside an SVG has an object in its place. */
const urlOf = (value: unknown): string | null => text(value)?.slice(0, urlLengthMax) || null

const absolute = (value: unknown, base: unknown): string | null => {
  const [url, from] = [text(value), text(base)]
  return url && from && URL.canParse(url, from) ? urlOf(new URL(url, from).href) : null
}

const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** What a link does that does not lead to another page of the same site; undefined for one that does. */
function linkKind(href: string | null, url: unknown): 'outbound' | 'tel' | 'mailto' | undefined {
  if (!href || !URL.canParse(href)) return
  const { protocol, hostname } = new URL(href)
  if (protocol === 'tel:') return 'tel'
  if (protocol === 'mailto:') return 'mailto'
  const page = text(url)
  const isWeb = protocol === 'http:' || protocol === 'https:'
  if (isWeb && page && URL.canParse(page) && new URL(page).hostname !== hostname) return 'outbound'
}

/** What a URL searches for, by the parameters of this site. */
function queries(url: unknown, parameters: readonly string[]): string[] {
  if (typeof url !== 'string' || !URL.canParse(url)) return []
  const { searchParams } = new URL(url)
  return parameters.flatMap((name) => searchParams.getAll(name))
}
