import type { Filter } from '../../events/query/filter/filter.ts'
import type { Source } from '../../events/query/source.ts'
import { canonicalJson } from '../../platform/json.ts'

export const entities = ['people', 'companies'] as const
export type Entity = (typeof entities)[number]

/** Maximum depth of nested nodes; include and exclude are the first level. */
export const depthMax = 8
/** Maximum number of leaves, each of which is one of 64 bits. */
export const leavesMax = 64
/** Maximum number of days before today that an event leaf covers. */
export const withinDaysMax = 365

/** A definition as sent and stored: JSON. */
export interface Definition {
  readonly entity: Entity
  readonly include: unknown
  readonly exclude?: unknown
  readonly limit?: number
}

/** A validated definition. Its trees refer to leaves by their index in `leaves`. */
export interface Parsed {
  readonly entity: Entity
  readonly include: Tree
  readonly exclude: Tree | null
  readonly limit: number | null
  readonly leaves: readonly Leaf[]
}

export type Tree =
  | { readonly all: readonly Tree[] }
  | { readonly any: readonly Tree[] }
  | { readonly not: Tree }
  | { readonly leaf: number }

export type Leaf = ProfileLeaf | EventLeaf | IntentLeaf | ListLeaf | AudienceLeaf

/** Place of a leaf in the request's body, as a JSON pointer. */
interface Placed {
  readonly pointer: string
}

/** A field of the person, or of the company, matches all of `conditions`. A missing value matches none. */
export interface ProfileLeaf extends Placed {
  readonly kind: 'profile'
  readonly field: string
  readonly conditions: readonly ProfileCondition[]
}
export type ProfileCondition = Filter | { readonly isSet: boolean; readonly name: string }

/** Matches if enough events, from today and the `withinDays` days before it (UTC), meet the filters. */
export interface EventLeaf extends Placed {
  readonly kind: 'event'
  readonly filters: readonly Filter[]
  readonly source: Source | null
  readonly pixelId: string | null
  readonly atLeast: number
  readonly withinDays: number
  /** The counted events, without the minimum and the days: leaves with the same text share their counts. */
  readonly counted: string
}

/** Interest in any, or in all, of these topics within the audience's window. */
export interface IntentLeaf extends Placed {
  readonly kind: 'intent'
  readonly topics: readonly string[]
  readonly match: 'any' | 'all'
  readonly minScore: number
}

/** Matches members of a list: people, by their browsers or directly, or employees of its companies. */
export interface ListLeaf extends Placed {
  readonly kind: 'list'
  readonly listId: string
}

/** Matches members of another audience's build. */
export interface AudienceLeaf extends Placed {
  readonly kind: 'audience'
  readonly audienceId: string
}

export const leavesOf = <K extends Leaf['kind']>({ leaves }: Parsed, kind: K) =>
  leaves.flatMap((leaf, index) =>
    leaf.kind === kind ? [{ index, leaf: leaf as Extract<Leaf, { kind: K }> }] : [],
  )

/**
 * Returns a text that is equal for definitions with the same members, whatever the order of their properties
 * and their defaults.
 */
export const meaningOf = ({ leaves, ...trees }: Parsed): string =>
  canonicalJson({ ...trees, leaves: leaves.map(({ pointer: _, ...leaf }) => leaf) })
