import { filterFor } from '../../view/filterText.ts'

/** Kinds of goals, with their labels. */
export const goalKinds = {
  page: 'A page is visited',
  event: 'A custom event happens',
  form: 'A form is sent',
  download: 'A file is downloaded',
  condition: 'A custom condition',
} as const
export type GoalKind = keyof typeof goalKinds

const customEvent = 'event_type:eq:custom,'
const formSent = 'event_type:eq:form_submission'
const downloaded = 'event_type:eq:download'
const pageVisited = 'event_type:eq:page_view,'

/** The filter of a goal. `value` is the page, the name of the event, or the condition. */
export function goalFilter(kind: GoalKind, value: string): string {
  if (kind === 'form') return formSent
  if (kind === 'download') return downloaded
  if (kind === 'page') return pageVisited + filterFor('page_path', value)
  if (kind === 'event') return customEvent + filterFor('event_data.name', value)
  return value
}

/** Returns the goal of a filter: the reverse of goalFilter. */
export function readGoalFilter(filter: string): { kind: GoalKind; value: string } {
  if (filter === formSent) return { kind: 'form', value: '' }
  if (filter === downloaded) return { kind: 'download', value: '' }
  for (const kind of ['page', 'event'] as const) {
    const prefix = goalFilter(kind, '')
    const value = filter.slice(prefix.length)
    if (filter.startsWith(prefix) && goalFilter(kind, value) === filter) return { kind, value }
  }
  return { kind: 'condition', value: filter }
}

const properties = 'event_data.properties.'

/** The value of a goal by the name of a property of its events, or by a path into event_data. */
export function goalValue(
  property: string,
  currency: string,
): { property: string; currency: string } | undefined {
  const name = property.trim()
  if (name === '') return undefined
  return {
    property: name.startsWith('event_data.') ? name : properties + name,
    currency: currency.trim().toUpperCase(),
  }
}

/** Returns the property of a goal's value as goalValue accepts it. */
export const readGoalProperty = (path: string): string =>
  path.startsWith(properties) ? path.slice(properties.length) : path
