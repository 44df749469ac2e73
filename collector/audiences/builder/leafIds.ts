import { eventColumns } from '../../../schemas/fields.ts'
import { uuidOf } from '../definition/canonical.ts'
import type { EventLeaf, Parsed } from '../definition/definition.ts'

const stored = new Set(
  eventColumns.filter(({ alias }) => !alias || alias.includes('ts_millis')).map(({ name }) => name),
)

/**
 * Returns the id of an event leaf's counts. It is equal for all leaves of a project that count the same
 * events, with any minimum and any number of days.
 */
export const leafIdOf = (projectId: string, { counted }: EventLeaf): string =>
  uuidOf(`${projectId} ${counted}`)

/** Returns the ids of event leaves by their index among the leaves. */
export const leafIdsOf = (projectId: string, { leaves }: Parsed): ReadonlyMap<number, string> =>
  new Map(
    leaves.flatMap((leaf, index) =>
      leaf.kind === 'event' ? [[index, leafIdOf(projectId, leaf)]] : [],
    ),
  )

/**
 * Whether a day's counts depend only on its events, and not on other days or tables, such as sessions or
 * identities.
 */
export const isOfEventsAlone = ({ filters }: EventLeaf): boolean =>
  filters.every(({ field }) => field === undefined || stored.has(field.name))
