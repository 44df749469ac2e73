import { type Filter, pathIntoEventData } from '../../events/query/filter/filter.ts'
import type { GoalConditions } from '../goals.ts'

/** The dimensions of counted days: event fields that never change. */
export const rolledFields: readonly string[] = ['page_path', 'page_host', 'event_type']

/** The dimensions of counted days that are session fields. */
export const rolledSessionFields: readonly string[] = [
  'channel',
  'source',
  'referrer_host',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'country',
  'region',
  'city',
  'language',
  'device_type',
  'browser',
  'os',
]

/** The dimension of a complete day. */
export const wholeDay = ''

/** The fields of sessions that `counted_sessions` has. */
export const storedSessionFields: readonly string[] = [
  ...rolledSessionFields,
  'entry_page',
  'exit_page',
]

/** Whether counts of days tell which events match a filter: on one or several values of a counted field. */
export const isRolledFilter = ({ field, op }: Filter): boolean =>
  (op === 'eq' || op === 'in') && rolledFields.includes(field?.name ?? '')

/** The fields of events that `counted_sessions` has, apart from paths into event_data. */
const storedEventFields: readonly string[] = ['event_type', 'page_path', 'page_host']

/** Whether a path into event_data is that of the name of custom events. */
export const isNamePath = (path: readonly string[]): boolean =>
  path.length === 1 && path[0] === 'name'

const isPropertyPath = (path: readonly string[]): boolean =>
  path.length > 1 && path[0] === 'properties'

const isStoredPath = (path: readonly string[]): boolean => isNamePath(path) || isPropertyPath(path)

/** Whether `counted_sessions` has the values of an event field, or of a path into event_data. */
export function isStoredDimension(name: string): boolean {
  const path = pathIntoEventData(name)
  return path ? isStoredPath(path) : storedEventFields.includes(name)
}

/** Whether rows of `counted_sessions` tell which events match a filter. */
export const isStoredFilter = ({ field, path, as }: Filter): boolean =>
  path
    ? isPropertyPath(path) || (isNamePath(path) && as !== 'number')
    : storedEventFields.includes(field.name)

/** Whether rows of `counted_sessions` tell which events reach a goal, and their values. */
export const isStoredGoal = ({ filters, valuePath }: GoalConditions): boolean =>
  filters.every(isStoredFilter) && (valuePath === null || isPropertyPath(valuePath))
