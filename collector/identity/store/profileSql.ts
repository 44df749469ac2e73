/**
 * The SQL of profiles: no other reader uses their tables. `hem_number` is the hem as 256 bits, 0 for
 * anonymous visitors. Over rows of `events` it is the expression hemNumber (schemas/fields/identity.ts),
 * elsewhere a column.
 */
import { type Field, hemAsNumber, hemNumber, numberAsHem } from '../../../schemas/fields.ts'
import { isPteField } from '../../platform/clickhouse/profileRows.ts'
import { hemsOfPerson, hemsOfProfile, profileOf } from './personSql.ts'

/** A condition over rows of `events`: the visitor's profile meets all of `conditions`. */
export const profileMeets = (conditions: readonly string[]): string =>
  `${hemNumber} IN (${hemsWhere(conditions.join(' AND '))})`

/** Returns a condition over rows of `events`: no profile of the visitor matches any of `conditions`. */
export const profileMeetsNone = (conditions: readonly string[]): string =>
  `${hemNumber} NOT IN (${hemsWhere(conditions.join(' OR '))})`

const hemsWhere = (condition: string): string =>
  `SELECT ${describedHem} FROM ${profiles} WHERE ${condition}`

/** One row for each loaded hem, with the columns of the field table. */
const profiles = 'profiles FINAL'

/** Makes a row for each hem that a row of `profiles` describes: its own, and addresses that only the profile names. */
const describedHem = `arrayJoin(${hemsOfProfile(hemAsNumber('hem'))})`

/** The same people as encoded JSON members (002_people.sql); the newest row counts. */
const profileRows = 'profile_rows'

/** Tables with data of people, with SQL of the hem of a row. */
export const profileTables = [
  { table: 'profiles', hem: 'hem' },
  { table: profileRows, hem: numberAsHem('hem_number') },
] as const

/** Returns SQL that selects those of `hemNumbers`, a SELECT of hem_number, that have a profile. */
export const hemsWithProfile = (hemNumbers: string): string =>
  `SELECT hem_number FROM ${profileRows} WHERE hem_key IN (SELECT toUInt64(hem_number) FROM (${hemNumbers}))`

export const profileCount = 'SELECT count() FROM profiles'

/** SQL of `columns` of the profiles that match all of `conditions`. */
export const profilesWhere = (
  columns: readonly string[],
  conditions: readonly string[],
): string => `SELECT ${columns.join(', ')}
FROM ${profiles}
WHERE ${conditions.join('\n  AND ')}`

/** Returns SQL of matching profiles, without people who have opted out of an organization, a placeholder. */
export const peopleWhere = (
  columns: readonly string[],
  conditions: readonly string[],
  organizationId: string,
): string =>
  profilesWhere(columns, [...conditions, `toString(hem) NOT IN (${optedOutHems(organizationId)})`])

/** The key of a person across profiles: the person id, or otherwise the hem. */
export const personKey = 'ifNull(pte_person_id, toString(hem))'

/** The company of each person who has one. */
export const companyDomains = `SELECT ${describedHem} AS _hem_number, company_domain FROM ${profiles} WHERE company_domain != ''`

/**
 * The FROM that gives all rows of `events`, or of a join with it, these fields of their visitors' profiles.
 * It is for an entire window: a lookup for each row would cost more than one read of all people. GLOBAL reads
 * on one server, for all shards.
 */
export function eventsWithProfiles(fields: readonly Field[], events = 'events'): string {
  if (fields.length === 0) return events
  const names = fields.map(({ name }) => name).join(', ')
  return `${events} GLOBAL ANY LEFT JOIN (SELECT ${describedHem} AS _hem_number, ${names} FROM ${profiles}) AS known ON known._hem_number = ${hemNumber}`
}

/** SQL of the cookies that may be a person's: an index finds their events, and hemNumber decides. */
export const cookiesOf = (organizationId: string, hem: string): string =>
  `cookie_id IN (SELECT cookie_id FROM identity_links WHERE organization_id IN (${organizationId}, toUUID('00000000-0000-0000-0000-000000000000')) AND hem = ${hem})`

/** The type of _person. */
const personType = 'Tuple(hem_number UInt256, pte String, profile String)'

/**
 * The person of a row that has the column _hem_number: a tuple _person of `hem_number` and two texts. `pte` has the
 * JSON members of tier resolution_hem_pte, `profile` those of the full profile. _profile_number is the hem of the
 * profile that describes _hem_number. Used only for the rows of a page.
 */
export const withPerson = `${profileOf('_hem_number')} AS _profile_number, dictGetOrDefault('profile_by_hem', ('hem_number', 'pte', 'profile'), toUInt64(_profile_number), (toUInt256(0), '', ''))::${personType} AS _person`

/** The columns of profileMembers. */
export const memberColumns = ['_pte', '_profile'] as const

/**
 * The members of a complete profile as columns that end a row's JSON object, for rows that have _person. A
 * comma precedes each member. Identified visitors without a profile have null. Anonymous visitors have
 * nothing, or null if rows always contain the members.
 */
export function profileMembers(
  fields: readonly Field[],
  ofNobody: 'empty' | 'null' = 'empty',
): readonly { name: string; sql: string }[] {
  const [pte, profile] = [fields.filter(isPteField), fields.filter((field) => !isPteField(field))]
  return [
    { name: '_pte', sql: membersOf(pte, '_person.pte', ofNobody) },
    { name: '_profile', sql: membersOf(profile, '_person.profile', ofNobody) },
  ]
}

function membersOf(fields: readonly Field[], known: string, ofNobody: 'empty' | 'null'): string {
  if (fields.length === 0) return "''"
  const unknown = `'${fields.map(({ name }) => `,"${name}":null`).join('')}'`
  return `multiIf(_hem_number = 0, ${ofNobody === 'empty' ? "''" : unknown}, _person.hem_number = _profile_number, ${known}, ${unknown})`
}

const jsonTypes = {
  Utf8: 'String',
  Int64: 'Int64',
  Float64: 'Float64',
  Boolean: 'Bool',
  Timestamp: 'String',
} as const

/**
 * How to read some fields of a profile, for rows that have _person: `declared` is _values, for WITH, and
 * `sqlOf` is one of these fields. A few fields are a tuple. For many, ClickHouse would read the tuple's type
 * with all names for each of them. This takes half a second for a hundred before it reads a row. So these are
 * a map of JSON values, if they must be columns at all (profileTexts.ts).
 */
export function profileValues(fields: readonly Field[]): {
  declared: string
  sqlOf: (field: Field) => string
} {
  const json = profileJson(fields)
  if (!isFew(fields)) {
    return {
      declared: `CAST(JSONExtractKeysAndValuesRaw(${json}), 'Map(String, String)') AS _values`,
      sqlOf: (field) => `JSONExtract(_values['${field.name}'], '${nullableType(field)}')`,
    }
  }
  const types = fields.map((field) => `${field.name} ${nullableType(field)}`).join(', ')
  return {
    declared:
      fields.length === 0
        ? 'tuple() AS _values'
        : `JSONExtract(${json}, 'Tuple(${types})') AS _values`,
    sqlOf: ({ name }) => `_values.${name}`,
  }
}

/** Whether a tuple of so few fields is faster than reading all values. */
export const isFew = (fields: readonly Field[]): boolean => fields.length <= tupleFieldsMax

const tupleFieldsMax = 12

/** Returns SQL of a JSON object with these fields of _person; an empty object for anonymous visitors. */
const profileJson = (fields: readonly Field[]): string => jsonOf(readyMembers(fields))

/** Returns SQL of a JSON object with these members, each of which follows a comma. */
export const jsonOf = (members: string): string => `concat('{', substring(${members}, 2), '}')`

/** SQL of _person's members that contain these fields, each after a comma. */
export function readyMembers(fields: readonly Field[]): string {
  const parts = [
    ...(fields.some(isPteField) ? ['_person.pte'] : []),
    ...(fields.every(isPteField) ? [] : ['_person.profile']),
  ]
  return `if(_person.hem_number = _profile_number, ${parts.join(' || ')}, '')`
}

const nullableType = ({ dataType }: Field): string => `Nullable(${jsonTypes[dataType]})`

/**
 * All hems of people who opted out of an organization, or of all (collector/identity/privacy). An opt-out by
 * one address applies to all addresses. A placeholder. The condition names the table, because the result's column `hem`
 * is never empty. Otherwise opt-outs of browsers would hide companies, whose rows have the hem number 0.
 */
export const optedOutHems = (organizationId: string): string =>
  `SELECT ${numberAsHem(`arrayJoin(${hemsOfPerson(hemAsNumber('hem'))})`)} AS hem FROM active_opt_outs AS opt_out WHERE opt_out.hem != '' AND organization_id IN (${organizationId}, toUUID('00000000-0000-0000-0000-000000000000'))`

export const requestedHems = 'asked_hems'

/**
 * Returns the query for people of the list askedHems who have not opted out of `{organization:UUID}`. A person is
 * described by the profile of the hem, or by the profile that names its address. It returns `hem`, and the JSON
 * members as memberColumns, or some of their fields as columns.
 */
export function peopleQuery(fields: readonly Field[] | null): string {
  const asked = `SELECT value AS hem, ${profileOf(hemAsNumber('value'))} AS _profile_number FROM ${requestedHems} WHERE value NOT IN (${optedOutHems('{organization:UUID}')})`
  const values = fields === null ? null : profileValues(fields)
  const columns =
    fields === null
      ? ['pte AS _pte', 'profile AS _profile']
      : fields.map((field) => `${values!.sqlOf(field)} AS ${field.name}`)
  return `WITH ${[`(_profile_number, pte, profile)::${personType} AS _person`, ...(values === null ? [] : [values.declared])].join(', ')}
SELECT ${['hem', ...columns].join(', ')}
FROM (${asked}) AS asked
INNER JOIN (
SELECT hem_number AS _profile_number, pte, profile
FROM ${profileRows}
WHERE hem_key IN (SELECT toUInt64(_profile_number) FROM (${asked}))
  AND hem_number IN (SELECT _profile_number FROM (${asked}))
ORDER BY hem_number, updated_at DESC
LIMIT 1 BY hem_number
) AS stored USING _profile_number`
}
