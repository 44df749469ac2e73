import { hemAsNumber, numberAsHem } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { filterCondition } from '../../events/query/filterSql.ts'
import { hemsOfPerson } from '../../identity/store/personSql.ts'
import type { Parsed, ProfileCondition } from '../definition/definition.ts'
import { leavesOf } from '../definition/leaves.ts'
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
  /** Whether intent leaves omit the organization's own events; absent: they do not. */
  readonly loadedOnly?: boolean
  /** The build of each audience in leaves. */
  readonly usedBuilds: ReadonlyMap<string, string>
  /** The lists in leaves. */
  readonly usedLists: UsedLists
  /** The organization whose opt-outs exclude people: `everywhere` if the number of members may be free. */
  readonly hiddenFrom: string
  /** Hems of people being erased from there. */
  readonly erased: readonly string[]
  /** The only person to check; absent: all people. */
  readonly hem?: string
  /** Returns SQL of the only people to check, as `changed`: their main hem numbers; absent: all people. */
  readonly among?: ((bind: Bind) => string) | undefined
  /** Further conditions, whose bits follow those of the leaves (decidedMembers.ts); absent: none. */
  readonly further?: readonly FurtherBit[]
  /** Includes only members whose share of a hash is below this many 65,536ths; null: all members. */
  readonly below: number | null
}

/** A condition over profiles with a bit of its own; `leaf` is the index of the profile leaf to which it belongs. */
interface FurtherBit {
  readonly leaf: number
  readonly bit: number
  readonly condition: ProfileCondition
}

/** A profile leaf, or a further condition of one, as a condition over rows of `profiles` or `companies`. */
interface ProfileBit {
  readonly index: number
  readonly field: string
  readonly condition: string
}

/** Returns the conditions that a scan of the profiles checks, with their bits. */
export function profileBits({ parsed, further = [] }: MembersPlan, bind: Bind): ProfileBit[] {
  const leaves = leavesOf(parsed, 'profile').map(({ index, leaf }) => ({
    index,
    field: leaf.field,
    condition: profileCondition(leaf.conditions, bind),
  }))
  const fieldOf = new Map(leaves.map(({ index, field }) => [index, field]))
  return [
    ...leaves,
    ...further.map(({ leaf, bit, condition }) => ({
      index: bit,
      field: fieldOf.get(leaf)!,
      condition: profileCondition([condition], bind),
    })),
  ]
}

/** Returns SQL of a leaf's bit if the condition holds, otherwise 0. */
export const bitOf = (index: number, condition: string): string =>
  `bitShiftLeft(toUInt64(ifNull(${condition}, false)), ${index})`

/** Returns SQL that selects all hems of people, each of whom has a hem number in the rows of `from`. */
export const hemsOf = (hemNumber: string, from: string): string =>
  `SELECT ${numberAsHem('held')} FROM (SELECT arrayJoin(${hemsOfPerson(hemNumber)}) AS held FROM ${from})`

/** Returns an SQL condition over a column `hem` for the people in the plan; null if it includes all. */
export function hemCondition(
  { below, hem, among }: Pick<MembersPlan, 'below' | 'hem' | 'among'>,
  bind: Bind,
): string | null {
  if (among !== undefined) return `hem IN (${hemsOf('changed', `(${among(bind)})`)})`
  if (hem !== undefined) return `hem IN (${hemsOf(hemAsNumber(bind('String', hem)), 'system.one')})`
  if (below === null || below >= 65_536) return null
  return `hem < ${bind('String', below.toString(16).padStart(4, '0'))}`
}

const profileCondition = (conditions: readonly ProfileCondition[], bind: Bind): string =>
  `(${conditions.map((one) => ('isSet' in one ? `${one.name} IS ${one.isSet ? 'NOT ' : ''}NULL` : filterCondition(one, bind))).join(' AND ')})`
