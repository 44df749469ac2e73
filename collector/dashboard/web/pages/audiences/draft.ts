/** A definition in the builder: conditions on one level, combined by all or any, and exclusions. */
export interface Draft {
  entity: 'people' | 'companies'
  match: 'all' | 'any'
  include: Leaf[]
  exclude: Leaf[]
}

export type Leaf =
  | { kind: 'event'; event_type: string; filter: string; at_least: number; within_days: number }
  | { kind: 'profile'; field: string; op: string; value: string }
  | { kind: 'intent'; topics: string; min_score: number }
  | { kind: 'list'; list_id: string }
  | { kind: 'audience'; audience_id: string }
export type LeafKind = Leaf['kind']

type Node = Record<string, unknown>
export interface Definition {
  entity: 'people' | 'companies'
  include: Node
  exclude?: Node
  limit?: number
}

export const emptyLeaf: Record<LeafKind, Leaf> = {
  event: { kind: 'event', event_type: 'page_view', filter: '', at_least: 1, within_days: 30 },
  profile: { kind: 'profile', field: 'job_seniority', op: 'eq', value: '' },
  intent: { kind: 'intent', topics: '', min_score: 50 },
  list: { kind: 'list', list_id: '' },
  audience: { kind: 'audience', audience_id: '' },
}

/** Returns a draft in the form of the API. */
export function definitionOf({ entity, match, include, exclude }: Draft): Definition {
  return {
    entity,
    include: groupOf(match, include),
    ...(exclude.length > 0 && { exclude: groupOf('any', exclude) }),
  }
}

const groupOf = (match: 'all' | 'any', leaves: readonly Leaf[]): Node =>
  leaves.length === 1 ? nodeOf(leaves[0]!) : { [match]: leaves.map(nodeOf) }

function nodeOf(leaf: Leaf): Node {
  switch (leaf.kind) {
    case 'event': {
      const { event_type, filter, at_least, within_days } = leaf
      return {
        event: {
          ...(event_type && { event_type }),
          ...(filter && { filter }),
          at_least,
          within_days,
        },
      }
    }
    case 'profile':
      return {
        profile: { field: leaf.field, op: leaf.op, value: profileValue(leaf.op, leaf.value) },
      }
    case 'intent':
      return { intent: { topics: namesIn(leaf.topics), min_score: leaf.min_score } }
    case 'list':
      return { list: { list_id: leaf.list_id } }
    case 'audience':
      return { audience: { audience_id: leaf.audience_id } }
  }
}

const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)

/** Parses the value of an operator: lists are separated by commas; numbers and booleans are literal. */
function profileValue(op: string, text: string): unknown {
  if (op === 'is_set') return text !== 'false'
  if (op === 'in' || op === 'between') return namesIn(text).map(scalarOf)
  return scalarOf(text)
}

const scalarOf = (text: string): unknown => {
  if (text === 'true' || text === 'false') return text === 'true'
  return text.trim() !== '' && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** Returns a definition as a draft; null if it is nested deeper than the builder supports. */
export function draftOf({ entity, include, exclude, limit }: Definition): Draft | null {
  if (limit !== undefined) return null
  const included = leavesOf(include)
  const excluded = exclude ? leavesOf(exclude) : { match: 'any' as const, leaves: [] }
  if (!included || !excluded || (excluded.match === 'all' && excluded.leaves.length > 1))
    return null
  return { entity, match: included.match, include: included.leaves, exclude: excluded.leaves }
}

function leavesOf(node: Node): { match: 'all' | 'any'; leaves: Leaf[] } | null {
  const group = 'all' in node ? 'all' : 'any' in node ? 'any' : null
  const nodes = group ? (node[group] as Node[]) : [node]
  const leaves = nodes.map(leafOf)
  if (leaves.some((leaf) => leaf === null)) return null
  return { match: group ?? 'all', leaves: leaves as Leaf[] }
}

// biome-ignore lint/suspicious/noExplicitAny: what the API has checked.
function leafOf(node: any): Leaf | null {
  const { event, profile, intent, list, audience } = node
  if (event && event.pixel_id === undefined) {
    const { event_type = '', filter = '', at_least = 1, within_days } = event
    return { kind: 'event', event_type, filter, at_least, within_days }
  }
  if (profile) {
    const { field, op, value } = profile
    return {
      kind: 'profile',
      field,
      op,
      value: Array.isArray(value) ? value.join(', ') : String(value),
    }
  }
  if (intent && intent.match !== 'all') {
    return { kind: 'intent', topics: intent.topics.join(', '), min_score: intent.min_score ?? 0 }
  }
  if (list) return { kind: 'list', list_id: list.list_id }
  if (audience) return { kind: 'audience', audience_id: audience.audience_id }
  return null
}
