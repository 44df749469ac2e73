import { counted } from '../../format.ts'
import { textOf } from '../../view/filterText.ts'
import { labelOfField, labelOfValue } from '../../view/labels.ts'
import type { Definition } from './draft.ts'

/** The names of lists and audiences, by their ids. */
export type Names = Readonly<Record<string, string>>

/** A definition in words: "People who sent a page view at least twice in the last 30 days where Page is /pricing." */
export function sentenceOf(definition: Definition, names: Names = {}): string {
  const { entity, include, exclude, limit } = definition
  const who = entity === 'people' ? 'People' : 'Companies'
  return [
    `${who} who ${clauseOf(include, names)}`,
    exclude ? `, except those who ${clauseOf(exclude, names)}` : '',
    limit === undefined ? '' : `, at most ${limit}`,
    '.',
  ].join('')
}

type Node = Record<string, unknown>

// biome-ignore lint/suspicious/noExplicitAny: the API has checked the definition.
function clauseOf(node: any, names: Names): string {
  const { all, any, not, event, profile, intent, list, audience } = node
  if (all) return joined(all, 'and', names)
  if (any) return joined(any, 'or', names)
  if (not) return `do not match (${clauseOf(not, names)})`
  if (event) return eventClause(event)
  if (profile) return profileClause(profile)
  if (intent) return intentClause(intent)
  if (list) return `are on the list ${quoted(names[list.list_id])}`
  if (audience) return `are in the audience ${quoted(names[audience.audience_id])}`
  return 'match'
}

const joined = (nodes: readonly Node[], word: 'and' | 'or', names: Names): string =>
  nodes
    .map((node) =>
      'all' in node || 'any' in node ? `(${clauseOf(node, names)})` : clauseOf(node, names),
    )
    .join(` ${word} `)

const quoted = (name: string | undefined): string => (name ? `“${name}”` : 'of another page')

function eventClause({
  event_type,
  filter,
  at_least = 1,
  within_days,
}: {
  event_type?: string
  filter?: string
  at_least?: number
  within_days: number
}): string {
  const what = event_type ? `“${labelOfValue('event_type', event_type)}”` : 'any event'
  const often = at_least === 1 ? '' : ` at least ${counted(at_least, 'time')}`
  const where = filter ? ` where ${textOf(filter)}` : ''
  return `have the event ${what}${often} in the last ${counted(within_days, 'day')}${where}`.replace(
    'the event any event',
    'any event',
  )
}

/** Operators of profile conditions, in words. */
export const profileOperators: Readonly<Record<string, string>> = {
  eq: 'is',
  ne: 'is not',
  like: 'matches',
  in: 'is one of',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  between: 'is between',
  is_set: 'is known',
}

function profileClause({ field, op, value }: { field: string; op: string; value: unknown }) {
  const label = labelOfField(field)
  if (op === 'is_set') return `have ${value === false ? 'no ' : ''}${label}`
  const values = (Array.isArray(value) ? value : [value]).map((one) =>
    labelOfValue(field, String(one)),
  )
  const text = values.join(op === 'between' ? ' and ' : ', ')
  if (op === 'eq' && (text === 'yes' || text === 'no'))
    return `have “${label}: ${text}” in their profile`
  return `have a ${label} that ${profileOperators[op] ?? op} ${text}`
}

function intentClause({
  topics,
  match = 'any',
  min_score = 0,
}: {
  topics: readonly string[]
  match?: string
  min_score?: number
}): string {
  const list = topics.join(match === 'all' ? ' and ' : ' or ')
  return `are interested in ${list}${min_score > 0 ? ` with a score of at least ${min_score}` : ''}`
}
