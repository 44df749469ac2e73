import { hemAsNumber, numberAsHem } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { hemsOfPerson } from '../../identity/store/personSql.ts'
import type { Parsed } from '../definition/definition.ts'
import type { UsedLists } from './usedLists.ts'

/** The members to find: those that match a definition, in an organization's project. */
export interface MembersPlan {
  readonly organizationId: string
  readonly parsed: Parsed
  /** The ids of the event leaves, by their place among the leaves. */
  readonly leafIds: ReadonlyMap<number, string>
  /** SQL of how many events meet them: rows of `leaf_id`, `day`, `cookie_id`, `events`; null without event leaves. */
  readonly eventCounts: ((bind: Bind) => string) | null
  /** The day that events are counted back from, since 1970 (UTC). */
  readonly today: number
  /** How many days, `today` the last of them, intent leaves look at. */
  readonly intentWindowDays: number
  /** Which build of each audience that a leaf names. */
  readonly usedBuilds: ReadonlyMap<string, string>
  /** The lists that leaves name. */
  readonly usedLists: UsedLists
  /** The organization whose opt-outs leave people out: `everywhere` where the number of members may be free. */
  readonly hiddenFrom: string
  /** Hems of people who are to be erased from there. */
  readonly erased: readonly string[]
  /** The only person to check; absent for all. */
  readonly hem?: string
  /** SQL of the only people to check, as `changed`: their main hem numbers; absent for all. */
  readonly among?: ((bind: Bind) => string) | undefined
  /** Only members whose share of a hash is below this many 65,536ths; null for all. */
  readonly below: number | null
}

/** SQL: a leaf's bit where the condition holds, else 0. */
export const bitOf = (index: number, condition: string): string =>
  `bitShiftLeft(toUInt64(ifNull(${condition}, false)), ${index})`

/** SQL that selects all hems of people, each known by one of their hem numbers in the rows of `from`. */
export const hemsOf = (hemNumber: string, from: string): string =>
  `SELECT ${numberAsHem('held')} FROM (SELECT arrayJoin(${hemsOfPerson(hemNumber)}) AS held FROM ${from})`

/** SQL over rows with a column `hem`: those of the people that the plan looks at; null where it looks at all. */
export function hemCondition(
  { below, hem, among }: Pick<MembersPlan, 'below' | 'hem' | 'among'>,
  bind: Bind,
): string | null {
  if (among !== undefined) return `hem IN (${hemsOf('changed', `(${among(bind)})`)})`
  if (hem !== undefined) return `hem IN (${hemsOf(hemAsNumber(bind('String', hem)), 'system.one')})`
  if (below === null || below >= 65_536) return null
  return `hem < ${bind('String', below.toString(16).padStart(4, '0'))}`
}
