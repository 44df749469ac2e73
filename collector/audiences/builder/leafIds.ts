import { eventColumns } from '../../../schemas/fields.ts'
import { uuidOf } from '../definition/canonical.ts'
import type { EventLeaf, Parsed } from '../definition/definition.ts'

const stored = new Set(
  eventColumns.filter(({ alias }) => !alias || alias.includes('ts_millis')).map(({ name }) => name),
)

/**
 * The id by which the counts of an event leaf are found: the same for all leaves of a project that count the same
 * events, however many they ask for and however far they look back.
 */
export const leafIdOf = (projectId: string, { counted }: EventLeaf): string =>
  uuidOf(`${projectId} ${counted}`)

/** The ids of the event leaves, by their place among the leaves. */
export const leafIdsOf = (projectId: string, { leaves }: Parsed): ReadonlyMap<number, string> =>
  new Map(
    leaves.flatMap((leaf, index) =>
      leaf.kind === 'event' ? [[index, leafIdOf(projectId, leaf)]] : [],
    ),
  )

/**
 * Whether a day's counts stay the same for as long as its events do: the leaf asks for nothing that other days or
 * other tables decide, such as sessions or who somebody is.
 */
export const isOfEventsAlone = ({ filters }: EventLeaf): boolean =>
  filters.every(({ field }) => field === undefined || stored.has(field.name))
