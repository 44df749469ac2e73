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
