/** The answers to share links: counts by fields that reveal no person, filtered by shown values. */
import type { Principal } from '../api/access/principal.ts'
import { forbidden, invalidParameter } from '../api/http/errors.ts'
import type { Filter, Operator } from '../events/query/filter/filter.ts'
import type { Bots } from '../events/query/filter/selection.ts'

const sharedFields = [
  'event_type',
  'page_path',
  'page_host',
  'entry_page',
  'exit_page',
  'is_entry',
  'channel',
  'source',
  'referrer_host',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'country',
  'region',
  'city',
  'language',
  'device_type',
  'browser',
  'os',
]
/** Other operators would find a text by its parts: an address, letter by letter. */
const sharedOperators: readonly Operator[] = ['eq', 'ne', 'in']

export const isShare = ({ caller }: Principal): boolean => caller.kind === 'share'

/** Throws 403 for filters and dimensions that a share link must not use, and for bots. */
export function requireShared(
  principal: Principal,
  {
    filters = [],
    sessionFilters = [],
    dimensions = [],
    bots = 'excluded',
  }: {
    filters?: readonly Filter[]
    sessionFilters?: readonly Filter[]
    dimensions?: readonly string[]
    bots?: Bots
  },
): void {
  if (!isShare(principal)) return
  if (bots !== 'excluded') throw forbidden('include_bots: a share link excludes bots. Omit it.')
  const unshared = dimensions.find((name) => !sharedFields.includes(name))
  if (unshared !== undefined) throw notShared('dimensions', unshared)
  for (const { field, op, value, others = [] } of [...filters, ...sessionFilters]) {
    if (!field || !sharedFields.includes(field.name))
      throw notShared('filter', field?.name ?? 'event_data')
    if (!sharedOperators.includes(op))
      throw invalidParameter('filter', `a share link supports only ${sharedOperators.join(', ')}`)
    if (
      [value, ...others.map((other) => other.value)].some((each) => mayTellOfPerson(String(each)))
    )
      throw forbidden('filter: a share link cannot filter by values that may describe a person.')
  }
}

const notShared = (parameter: string, name: string) =>
  forbidden(
    `${parameter}: ${name} is not shared. A share link supports ${sharedFields.join(', ')}.`,
  )

/** For a share link, removes values of a panel that may reveal a person. */
export const withoutPersons = <Row extends { value: string | null }>(
  principal: Principal,
  rows: Row[],
): Row[] =>
  isShare(principal) ? rows.filter(({ value }) => value === null || !mayTellOfPerson(value)) : rows

/** An @, also full-width, percent-encoded any number of times, or as an HTML entity. */
const at =
  /[@＠]|%(?:25){0,9}(?:40|EF%(?:25){0,9}BC%(?:25){0,9}A0)|&#0{0,5}(?:64|x0{0,5}40);|&commat;/i
const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i
const tokenCharsMin = 20
const numberDigitsMin = 9
/** YYYY-MM-DD, as in URLs of articles. */
const date = /(?<!\d)(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)/g
/** Separators between the digits of telephone numbers and IP addresses. */
const betweenDigits = /(?<=\d)(?:[-.() +]|%(?:20|28|29|2B))+(?=\d)/gi

/**
 * Whether a path or a parameter may describe a person, or open private data: an e-mail address, an id, a
 * telephone number, a token. Words, dates and short numbers do not.
 */
export function mayTellOfPerson(text: string): boolean {
  if (at.test(text) || uuid.test(text)) return true
  const hasLongNumber = text
    .replace(date, '')
    .replace(betweenDigits, '')
    .split(/\D+/)
    .some((digits) => digits.length >= numberDigitsMin)
  return (
    hasLongNumber ||
    text
      .split(/[^\da-z]+/i)
      .some((part) => part.length >= tokenCharsMin && /\d/.test(part) && /[a-z]/i.test(part))
  )
}
