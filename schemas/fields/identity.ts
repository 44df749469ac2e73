import type { Field } from './field.ts'

/** SQL: a hem, which is 64 hexadecimal digits, as its 256 bits, the first byte lowest: half the memory of its text. */
export const hemAsNumber = (hem: string): string => `reinterpretAsUInt256(unhex(${hem}))`

/** SQL: the text of a hem that is a number. */
export const numberAsHem = (number: string): string =>
  `lower(hex(reinterpretAsFixedString(${number})))`

const own = '(organization_id, cookie_id)'
const ofEverybody = "(toUUID('00000000-0000-0000-0000-000000000000'), cookie_id)"

/** SQL over rows of `events`: an attribute of the link that counts for the event's cookie. */
const ofCookie = (attribute: string) =>
  `dictGetOrDefault('identity_by_cookie_lately', '${attribute}', ${own}, dictGetOrDefault('identity_by_cookie', '${attribute}', ${own}, dictGet('identity_by_cookie', '${attribute}', ${ofEverybody})))`

/**
 * SQL over rows of `events`: the person of the event's cookie, as the hem's 256 bits, and 0 for unknown
 * visitors. Observations of the organization's own sites have priority over the operator's graph. For a
 * cookie in the graph, the dictionaries contain only links that the site's own server signed. Recent
 * observations are in a separate dictionary. Observations of other organizations have other keys, so no query
 * finds them.
 */
export const hemNumber = ofCookie('hem_number')

/**
 * SQL, over rows of `events`: whether the link that hemNumber follows is signed, loaded or of the operator's graph. Anybody
 * can send another one.
 */
export const isVouched = `${ofCookie('is_vouched')} != 0`

/** Who an event’s visitor is. */
export const resolved: Field = {
  name: 'resolved',
  columnType: 'Nullable(Bool)',
  alias: `${hemNumber} != 0`,
  dataType: 'Boolean',
  nullable: true,
  tier: 'web_event',
  group: 'event',
  counts: 'groups',
  description: 'True if the visitor was identified.',
}

/** For filters alone: a row that has a profile shows it. */
export const hasProfile: Field = {
  name: 'has_profile',
  columnType: 'Bool',
  dataType: 'Boolean',
  nullable: false,
  tier: 'resolution_hem',
  group: 'identity',
  description: 'True if the visitor has a profile, not only a hem. Only for filters.',
}

export const hem: Field = {
  name: 'hem',
  columnType: 'Nullable(String)',
  alias: `if(${hemNumber} = 0, NULL, ${numberAsHem(hemNumber)})`,
  dataType: 'Utf8',
  nullable: true,
  tier: 'resolution_hem',
  group: 'identity',
  description:
    'Hashed e-mail: SHA-256, in hex, of the trimmed, lower-cased address. Null for anonymous visitors.',
}
