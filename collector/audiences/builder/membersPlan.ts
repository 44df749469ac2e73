import { hemAsNumber, numberAsHem } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { filterCondition } from '../../events/query/filter/filterSql.ts'
import { hemsOfPerson } from '../../identity/store/personSql.ts'
import { leavesOf, type Parsed, type ProfileCondition } from '../definition/definition.ts'
import type { UsedLists } from './usedObjects.ts'

/** The members to find: matches of a definition, in an organization's project. */
export interface MembersPlan {
  readonly organizationId: string
  readonly parsed: Parsed
  /** The ids of event leaves, by their index among the leaves. */
  readonly leafIds: ReadonlyMap<number, string>
  /**
   * Returns SQL that counts the matching events: rows of `leaf_id`, `day`, `cookie_id`, `events`. Called
   * only if there are event leaves; null if none can be.
   */
  readonly eventCounts: ((bind: Bind) => string) | null
  /** The last day of event leaves' periods, since 1970 (UTC). */
  readonly today: number
  /** The number of days that intent leaves read; `today` is the last. */
  readonly intentWindowDays: number
  readonly usedBuilds: ReadonlyMap<string, string>
  readonly usedLists: UsedLists
  /** Hems of people whom the organization is erasing. */
  readonly erased: readonly string[]
  /** The only person to check; absent: all people. */
  readonly hem?: string
  /** Returns SQL of the only people to check, as `changed`: their main hem numbers; absent: all people. */
  readonly among?: ((bind: Bind) => string) | undefined
}

/** A profile leaf as a condition over rows of `profiles` or `companies`. */
interface ProfileBit {
  readonly index: number
  readonly field: string
  readonly condition: string
}

export const profileBits = ({ parsed }: MembersPlan, bind: Bind): ProfileBit[] =>
  leavesOf(parsed, 'profile').map(({ index, leaf }) => ({
    index,
    field: leaf.field,
    condition: profileCondition(leaf.conditions, bind),
  }))

/** Returns SQL of a leaf's bit if the condition holds, otherwise 0. */
export const bitOf = (index: number, condition: string): string =>
  `bitShiftLeft(toUInt64(ifNull(${condition}, false)), ${index})`

/** Returns SQL that selects all hems of people, each of whom has a hem number in the rows of `from`. */
export const hemsOf = (hemNumber: string, from: string): string =>
  `SELECT ${numberAsHem('held')} FROM (SELECT arrayJoin(${hemsOfPerson(hemNumber)}) AS held FROM ${from})`

/** Returns an SQL condition over a column `hem` for the people in the plan; null if it includes all. */
export function hemCondition(
  { hem, among }: Pick<MembersPlan, 'hem' | 'among'>,
  bind: Bind,
): string | null {
  if (among !== undefined) return `hem IN (${hemsOf('changed', `(${among(bind)})`)})`
  if (hem !== undefined) return `hem IN (${hemsOf(hemAsNumber(bind('String', hem)), 'system.one')})`
  return null
}

/** Returns SQL of the cookies that may belong to people whose hems meet the condition. */
export const cookiesWhere = (organizationId: string, ofSome: string, bind: Bind): string =>
  `SELECT cookie_id FROM identity_links WHERE organization_id IN (${bind('UUID', organizationId)}, toUUID('00000000-0000-0000-0000-000000000000')) AND ${ofSome}`

const profileCondition = (conditions: readonly ProfileCondition[], bind: Bind): string =>
  `(${conditions.map((one) => ('isSet' in one ? `${one.name} IS ${one.isSet ? 'NOT ' : ''}NULL` : filterCondition(one, bind))).join(' AND ')})`
