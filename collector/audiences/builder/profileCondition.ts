import type { Bind } from '../../events/query/bind.ts'
import { filterCondition } from '../../events/query/filterSql.ts'
import type { ProfileLeaf } from '../definition/definition.ts'

/** Returns a profile leaf as a condition over rows of `profiles` or `companies`. */
export const profileCondition = ({ conditions }: ProfileLeaf, bind: Bind): string =>
  `(${conditions.map((one) => ('isSet' in one ? `${one.name} IS ${one.isSet ? 'NOT ' : ''}NULL` : filterCondition(one, bind))).join(' AND ')})`
