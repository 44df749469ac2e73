/**
 * The field table: every readable column, once. Everything else derives from it: the DDL of `events` and
 * `profiles`, checks of `select` and `filter`, schema routes, the field catalog, metering, the OpenAPI
 * description. So a column is added only in schemas/fields/.
 */
import { companyFields } from './fields/company.ts'
import { contactFields } from './fields/contact.ts'
import { demographicFields } from './fields/demographic.ts'
import { eventFields } from './fields/event.ts'
import { type Field, type Tier, tiers } from './fields/field.ts'
import {
  hasProfile,
  hem,
  hemAsNumber,
  hemNumber,
  numberAsHem,
  resolved,
} from './fields/identity.ts'
import { marketingFields } from './fields/marketing.ts'
import { pteFields } from './fields/pte.ts'
import { sessionFields } from './fields/session.ts'
import { visitFields } from './fields/visit.ts'

export {
  type DataType,
  type Field,
  fieldSql,
  groups,
  publicField,
  type Tier,
  tiers,
} from './fields/field.ts'
export { companyFields, hasProfile, hem, hemAsNumber, hemNumber, numberAsHem, resolved }

/** The columns of `events`: stored ones, and ones that reads compute from them. */
export const eventColumns: readonly Field[] = [
  ...eventFields,
  ...marketingFields,
  ...visitFields,
  hem,
]

/** Data about a person: the columns of `profiles`, which has one row for each hem. */
export const profileFields: readonly Field[] = [
  ...pteFields,
  ...contactFields,
  ...companyFields,
  ...demographicFields,
]

/** Every field, in the order in which rows have them. */
export const fields: readonly Field[] = [...eventColumns, ...sessionFields, ...profileFields]

const tierRank = new Map<Tier, number>(tiers.map((tier, rank) => [tier, rank]))
const byName = new Map(fields.map((field) => [field.name, field]))
const ofProfiles = new Set(profileFields)
const ofSessions = new Set(sessionFields)

/** The field of that name, whatever its tier; undefined when there is none. */
export const fieldNamed = (name: string): Field | undefined => byName.get(name)

/** True when the field is a column of `profiles`, false when it is one of `events`. */
export const isProfileField = (field: Field): boolean => ofProfiles.has(field)

/** True when the field is computed from the visitor's other events (collector/events/query/sessions.ts). */
export const isSessionField = (field: Field): boolean => ofSessions.has(field)

/** The fields that counts may be grouped by. */
export const groupableFields: readonly Field[] = fields.filter(({ counts }) => counts === 'groups')

/** True when the field tells who a visitor is, which only resolution tiers sell. */
export const isIdentityField = ({ tier }: Field): boolean => tier !== 'web_event'

/** True when routes of `tier` may return `field`. */
export const isReadableAt = (field: Field, tier: Tier): boolean =>
  tierRank.get(field.tier)! <= tierRank.get(tier)!

/** The fields that may be selected at a route of `tier`, in the order of the table. */
export const selectableAt = (tier: Tier): readonly Field[] =>
  fields.filter((field) => isReadableAt(field, tier))

/** The fields a route of `tier` returns when nothing is selected, in the same order. */
export const fieldsAt = (tier: Tier): readonly Field[] =>
  selectableAt(tier).filter(({ isOnlyNamed }) => !isOnlyNamed)
