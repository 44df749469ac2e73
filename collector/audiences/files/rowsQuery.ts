import {
  companyFields,
  type Field,
  hemAsNumber,
  numberAsHem,
  profileFields,
} from '../../../schemas/fields.ts'
import { type Bind, bindings } from '../../events/query/bind.ts'
import { escapedFormula } from '../../events/query/page/csvFormulas.ts'
import { isSuppressed, suppressedPeople } from '../../events/query/profiles/suppressedPeople.ts'
import { profilesWhere } from '../../identity/store/profileSql.ts'
import type { Query } from '../../platform/clickhouse/client.ts'

/** Members of a build to show: all, or those with keys above `after` up to `upTo`. */
export interface ShownMembers {
  readonly organizationId: string
  readonly buildId: string
  readonly entity: 'people' | 'companies'
  /** Hems of people who are being erased. */
  readonly erased: readonly string[]
  readonly keys?: Keys
}

/** Keys above `after` up to `upTo`, or exactly these. */
export type Keys = { readonly after: number; readonly upTo: number } | readonly number[]

/** Returns SQL of the members of a build, hidden ones included. */
function membersWhere({ buildId, keys }: ShownMembers, bind: Bind): string[] {
  const inKeys = isList(keys)
    ? [`key IN (SELECT arrayJoin(${bind('Array(Int64)', keys)}))`]
    : keys
      ? [`key > ${bind('Int64', keys.after)} AND key <= ${bind('Int64', keys.upTo)}`]
      : []
  return [`build_id = ${bind('UUID', buildId)}`, ...inKeys]
}

const isList = (keys: Keys | undefined): keys is readonly number[] => Array.isArray(keys)

function shownWhere(members: ShownMembers, bind: Bind): string {
  const { organizationId, entity, erased } = members
  return [
    ...membersWhere(members, bind),
    ...(entity === 'people'
      ? [`NOT ${isSuppressed('hem_number', suppressedPeople(organizationId, erased, bind))}`]
      : []),
  ].join(' AND ')
}

/** Selects `key`, `id` (hem or domain) and `is_hidden`, in the order of the keys. */
export function memberIdsQuery(members: ShownMembers): Query {
  const { bind, params } = bindings()
  const { organizationId, entity, erased } = members
  const columns =
    entity === 'people'
      ? `${numberAsHem('hem_number')} AS id, ${isSuppressed('hem_number', suppressedPeople(organizationId, erased, bind))} AS is_hidden`
      : 'company_domain AS id, 0 AS is_hidden'
  return {
    sql: `SELECT key, ${columns} FROM audience_members
WHERE ${membersWhere(members, bind).join(' AND ')} ORDER BY key`,
    params,
  }
}

/** Selects the number of visible members as `rows`, and the `fingerprint` of their keys, a text. */
export function shownQuery(members: ShownMembers): Query {
  const { bind, params } = bindings()
  return {
    sql: `SELECT count() AS rows, concat(toString(count()), ' ', toString(groupBitXor(cityHash64(key)))) AS fingerprint
FROM audience_members WHERE ${shownWhere(members, bind)}`,
    params,
  }
}

/**
 * Selects the keys of the visible members as `spans`, and the `fingerprint` of shownQuery. One query reads both,
 * because an opt-out may change between two queries.
 */
export function shownSpansQuery(members: ShownMembers): Query {
  const { bind, params } = bindings()
  return {
    sql: `SELECT concat(toString(sum(rows)), ' ', toString(groupBitXor(hash))) AS fingerprint,
  arraySort(groupArray((after, upTo)::Tuple(after Int64, upTo Int64))) AS spans
FROM (SELECT min(key) - 1 AS after, max(key) AS upTo, count() AS rows, groupBitXor(cityHash64(key)) AS hash
  FROM (SELECT key, key - row_number() OVER (ORDER BY key) AS island FROM audience_members WHERE ${shownWhere(members, bind)})
  GROUP BY island)`,
    params,
  }
}

/** Maps names of a file's columns to fields. */
export type Columns = Readonly<Record<string, string>>

/**
 * Selects the rows of a part in the order of their keys: the hem and the profile, or the company; null for
 * unknown fields. `columns` replaces these columns; their names consist of letters, digits, spaces, dots,
 * dashes and underscores. With `escapesFormulas`, no spreadsheet runs a text.
 */
export function partQuery(
  members: ShownMembers,
  { columns, escapesFormulas = false }: { columns?: Columns; escapesFormulas?: boolean } = {},
): Query {
  const { bind, params } = bindings()
  const selectedAs = (field: Field, sql: string) =>
    `${escapesFormulas ? escapedFormula(field, sql) : sql} AS ${field.name}`
  const shown = (column: string) =>
    `SELECT ${column} FROM audience_members WHERE ${shownWhere(members, bind)}`
  const sql =
    members.entity === 'people'
      ? `SELECT ${[`${numberAsHem('members.hem_number')} AS hem`, ...profileFields.map((field) => selectedAs(field, `known.${field.name}`))].join(', ')}
FROM (${shown('key, hem_number')}) AS members
ANY LEFT JOIN (
${profilesWhere([`${hemAsNumber('hem')} AS hem_number`, ...names(profileFields)], [`hem IN (${shown(`${numberAsHem('hem_number')}`)})`])}
) AS known ON known.hem_number = members.hem_number
ORDER BY members.key`
      : `SELECT ${companyFields.map((field) => selectedAs(field, `${field.name === 'company_domain' ? 'members' : 'known'}.${field.name}`)).join(', ')}
FROM (${shown('key, company_domain')}) AS members
ANY LEFT JOIN (
SELECT ${names(companyFields).join(', ')} FROM companies FINAL WHERE company_domain IN (${shown('company_domain')})
) AS known ON known.company_domain = members.company_domain
ORDER BY members.key`
  const chosen =
    columns && Object.entries(columns).map(([name, field]) => `${field} AS \`${name}\``)
  const selected = chosen ? `SELECT ${chosen.join(', ')} FROM (\n${sql}\n)` : sql
  // A block of wide rows is formatted in memory, several at a time.
  return { sql: `${selected}\nSETTINGS join_use_nulls = 1, max_block_size = 8192`, params }
}

const names = (fields: readonly { readonly name: string }[]): string[] =>
  fields.map(({ name }) => name)
