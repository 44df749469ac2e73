import { textOf } from './product.ts'

/** Where a visit came from, as another product keeps it outside of the page's address. */
export interface Attribution {
  readonly source?: unknown
  readonly medium?: unknown
  readonly campaign?: unknown
  readonly term?: unknown
  readonly content?: unknown
  /** Values of click ids by the names of their parameters: gclid, msclkid. */
  readonly clickIds?: Readonly<Record<string, unknown>>
}

/**
 * Returns a page's address with the parameters of its attribution, because Footfall reads sources from addresses.
 * Parameters that the address has already stay as they are.
 */
export function withAttribution(url: string, from: Attribution): string {
  if (!URL.canParse(url)) return url
  const { source, medium, campaign, term, content, clickIds = {} } = from
  const utm = { source, medium, campaign, term, content }
  const wanted = [
    ...Object.entries(utm).map(([name, value]) => [`utm_${name}`, value] as const),
    ...Object.entries(clickIds),
  ]
  const present = new URL(url).searchParams
  const added = new URLSearchParams()
  for (const [name, value] of wanted) {
    const text = attributed(value)
    if (text !== undefined && !present.has(name)) added.set(name, text)
  }
  if (added.size === 0) return url
  const [page, ...fragment] = url.split('#')
  return [`${page}${page!.includes('?') ? '&' : '?'}${added}`, ...fragment].join('#')
}

/** Values in parentheses, such as "(organic)" and "(not set)", are words of the product and no names. */
const attributed = (value: unknown): string | undefined => {
  const text = textOf(value)?.trim()
  return !text || /^[(<].*[)>]$|^(?:null|undefined|unknown)$/i.test(text) ? undefined : text
}
