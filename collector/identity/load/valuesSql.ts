/** SQL that turns the texts of a file into the values of a table, and describes invalid ones. */
import type { Field } from '../../../schemas/fields.ts'
import { sqlText } from '../../platform/clickhouse/statements.ts'

export interface Value {
  readonly column: string
  readonly sql: string
  /** A condition for an invalid row, and SQL of the reason, which begins with the field's name. */
  readonly wrong?: { readonly when: string; readonly reason: string }
}

const shownMax = 80

/** Returns the reason for an invalid text, SQL `raw`, of a field. */
export const reasonOf = (field: string, raw: string, what: string): string =>
  `concat('${field}: "', substringUTF8(${raw}, 1, ${shownMax}), '" ${what}')`

/** Returns the value of a field of the field table. An empty text is null; `raw` is SQL of a String. */
export function fieldValue(field: Field, raw: string): Value {
  const value = (sql: string, isWrong: string, what: string): Value => ({
    column: field.name,
    sql,
    wrong: { when: `(${raw} != '' AND ${isWrong})`, reason: reasonOf(field.name, raw, what) },
  })
  const plain: Value = { column: field.name, sql: `nullIf(${raw}, '')` }
  switch (field.dataType) {
    case 'Utf8':
      return field.values
        ? value(
            plain.sql,
            `${raw} NOT IN (${field.values.map(sqlText).join(', ')})`,
            'is not in the field’s list',
          )
        : plain
    case 'Int64':
      return value(wholeNumber(raw), `isNull(${wholeNumber(raw)})`, 'is not a whole number')
    case 'Float64':
      return value(
        `toFloat64OrNull(${raw})`,
        `NOT ifNull(isFinite(toFloat64OrNull(${raw})), false)`,
        'is not a number',
      )
    case 'Boolean':
      return value(truth(raw), `isNull(${truth(raw)})`, 'is not true or false')
    case 'Timestamp':
      return value(time(raw), `isNull(${time(raw)})`, 'is not a time')
  }
}

/** Accepts 7.0, which programs without nullable integers write. */
const wholeNumber = (raw: string): string =>
  `ifNull(toInt64OrNull(${raw}), accurateCastOrNull(toFloat64OrNull(${raw}), 'Int64'))`

const truth = (raw: string): string =>
  `transform(lower(${raw}), ['true', 'yes', 't', 'y', '1', 'false', 'no', 'f', 'n', '0'], [true, true, true, true, true, false, false, false, false, false]::Array(Nullable(Bool)), NULL)`

/** Converts a text to a time; null for an invalid one. The default zone is UTC. */
export const time = (raw: string): string => `parseDateTime64BestEffortOrNull(${raw}, 3, 'UTC')`

/** Removes white space at both ends, like trim() in browsers. */
export const trimmed = (raw: string): string => `trimBoth(${raw}, ' \\t\\n\\r')`

const replaceOne = (raw: string, pattern: string, by: string): string =>
  `replaceRegexpOne(${raw}, ${sqlText(pattern)}, '${by}')`

/** SQL of withoutEmailMarkup (platform/normalizedEmail.ts). Most texts have none, and are not changed. */
function withoutMarkup(raw: string): string {
  const visible = `replaceRegexpAll(${raw}, ${sqlText('[\\p{Cf}\\p{Cc}]')}, '')`
  const unnamed = replaceOne(visible, '^[^<]*<([^<>@\\s]+@[^<>\\s]+)>\\s*$', '\\\\1')
  const plain = replaceOne(unnamed, '(?i)^\\s*mailto:([^?]*).*$', '\\\\1')
  const trimmedText = `replaceRegexpAll(${plain}, ${sqlText('^[\\s\\p{Z}]+|[\\s\\p{Z},;]+$')}, '')`
  return `if(match(${raw}, ${sqlText('^[!-+\\--:=?-~]+$')}) AND NOT startsWith(lower(${raw}), 'mailto:'), ${raw}, ${trimmedText})`
}

/** SQL for the hem of an address and for its validation, by the rules of platform/hem.ts. */
const hashOfAddress = (address: string): string => `SHA256(lowerUTF8(${withoutMarkup(address)}))`
/** Returns SQL of the hem of an address as a number, as stored in columns of hems. */
export const hemNumberOfAddress = (address: string): string =>
  `reinterpretAsUInt256(${hashOfAddress(address)})`
export const isAddress = (text: string): string =>
  `(length(${withoutMarkup(text)}) <= 254 AND match(${withoutMarkup(text)}, '^[^@<>\\\\s]+@[^@.<>\\\\s]+([.][^@.<>\\\\s]+)+$'))`
export const isHemText = (text: string): string => `match(lower(${text}), '^[0-9a-f]{64}$')`

export function hemValue(hem: string, email: string): Value {
  const given = `lower(${trimmed(hem)})`
  const ofAddress = `lower(hex(${hashOfAddress(email)}))`
  return {
    column: 'hem',
    sql: `if(${hem} != '', ${given}, ${ofAddress})`,
    wrong: {
      when: `NOT if(${hem} != '', ${isHemText(trimmed(hem))}, ${isAddress(trimmed(email))})`,
      reason: `multiIf(${hem} != '', ${reasonOf('hem', hem, 'is not a SHA-256 in hexadecimal digits')}, ${email} != '', ${reasonOf('email', email, 'is not an address')}, 'neither hem nor email')`,
    },
  }
}

export const domainOf = (raw: string): string =>
  `replaceRegexpOne(lower(${trimmed(raw)}), '^www\\\\.', '')`
export const isDomain = (domain: string): string =>
  `match(${domain}, '^[^\\\\s@/:.]+(\\\\.[^\\\\s@/:.]+)+$')`

/** Returns a company's domain, without www. */
export function domainValue(raw: string): Value {
  const domain = domainOf(raw)
  return {
    column: 'company_domain',
    sql: domain,
    wrong: {
      when: `NOT ${isDomain(domain)}`,
      reason: reasonOf('company_domain', raw, 'is not a domain'),
    },
  }
}

/** A network in CIDR notation; an address alone is a network of one. */
export function networkValue(raw: string): Value {
  const address = `splitByChar('/', ${trimmed(raw)})[1]`
  const bits = `splitByChar('/', ${trimmed(raw)})[2]`
  const most = `if(isIPv4String(${address}), 32, 128)`
  const hasBits = `position(${raw}, '/') > 0`
  return {
    column: 'network',
    sql: `concat(lower(${address}), '/', if(${hasBits}, ${bits}, toString(${most})))`,
    wrong: {
      when: `NOT ((isIPv4String(${address}) OR isIPv6String(${address})) AND (NOT ${hasBits} OR (match(${raw}, '^[^/]+/[0-9]{1,3}\\\\s*$') AND toUInt16OrZero(${bits}) <= ${most})))`,
      reason: reasonOf('network', raw, 'is not a network in CIDR notation'),
    },
  }
}
