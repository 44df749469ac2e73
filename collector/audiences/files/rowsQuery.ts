import { companyFields, hemAsNumber, numberAsHem, profileFields } from '../../../schemas/fields.ts'
import { profilesWhere } from '../../people/identity/profileSql.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { hiddenPeople } from '../../query/hiddenPeople.ts'
import { type Bind, bindings } from '../../query/where.ts'

/** Members of a build that may be shown: all, or those whose keys are above `after` up to `upTo`. */
export interface ShownMembers {
  readonly organizationId: string
  readonly buildId: string
  readonly entity: 'people' | 'companies'
  /** Hems of people who are to be erased. */
  readonly erased: readonly string[]
  readonly keys?: { readonly after: number; readonly upTo: number }
}

function shownWhere({ organizationId, buildId, entity, erased, keys }: ShownMembers, bind: Bind): string {
  return [
    `build_id = ${bind('UUID', buildId)}`,
    ...(keys ? [`key > ${bind('Int64', keys.after)} AND key <= ${bind('Int64', keys.upTo)}`] : []),
    ...(entity === 'people' ? [`hem_number NOT IN (${hiddenPeople(organizationId, erased, bind)})`] : []),
  ].join(' AND ')
}

/** How many members are shown, as `rows`, and a number that says which, as `shown`. */
export function shownQuery(members: ShownMembers): Query {
  const { bind, params } = bindings()
  return {
    sql: `SELECT count() AS rows, concat(toString(count()), ' ', toString(groupBitXor(cityHash64(key)))) AS shown
FROM audience_members WHERE ${shownWhere(members, bind)}`,
    params,
  }
}

/** The rows of a part in the order of their keys: the hem and the profile, or the company; null where nothing is known. */
export function partQuery(members: ShownMembers): Query {
  const { bind, params } = bindings()
  const shown = (column: string) =>
    `SELECT ${column} FROM audience_members WHERE ${shownWhere(members, bind)}`
  const sql =
    members.entity === 'people'
      ? `SELECT ${[`${numberAsHem('members.hem_number')} AS hem`, ...profileFields.map(({ name }) => `known.${name} AS ${name}`)].join(', ')}
FROM (${shown('key, hem_number')}) AS members
ANY LEFT JOIN (
${profilesWhere([`${hemAsNumber('hem')} AS hem_number`, ...names(profileFields)], [`hem IN (${shown(`${numberAsHem('hem_number')}`)})`])}
) AS known ON known.hem_number = members.hem_number
ORDER BY members.key`
      : `SELECT ${companyFields.map(({ name }) => (name === 'company_domain' ? 'members.company_domain AS company_domain' : `known.${name} AS ${name}`)).join(', ')}
FROM (${shown('key, company_domain')}) AS members
ANY LEFT JOIN (
SELECT ${names(companyFields).join(', ')} FROM companies FINAL WHERE company_domain IN (${shown('company_domain')})
) AS known ON known.company_domain = members.company_domain
ORDER BY members.key`
  // Snappy is what every reader of Parquet knows; a block of wide rows is formatted in memory, several at a time.
  return {
    sql: `${sql}\nSETTINGS join_use_nulls = 1, output_format_parquet_compression_method = 'snappy', max_block_size = 8192`,
    params,
  }
}

const names = (fields: readonly { readonly name: string }[]): string[] => fields.map(({ name }) => name)
