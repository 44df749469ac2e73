import type { FormSubmission } from '../../../schemas/events/form_submission.ts'
import { settings } from '../config.ts'
import { attribute, closest, cut, mask, masked } from '../element.ts'
import { capture } from '../queue.ts'
import type { FormField } from './form_submission.ts'

/** The search this page shows. Its next pages, filters and history restores are no new searches. */
let shown = ''

const report = (query: string, isOnPage: boolean) => {
  if (query && query !== shown) {
    capture('search', {
      query: cut(query),
      /** What the results page says by the time the event is encoded; NaN is null in JSON. */
      get results_count() {
        const marked = isOnPage && document.querySelector('[data-footfall-results]')
        return marked ? parseInt(attribute(marked, 'data-footfall-results')!, 10) : null
      },
    })
  }
  shown = query
}

/** For each page view: has the URL one of the parameters this site searches by? */
export const searchFromUrl = (): void => {
  const parameters = new URLSearchParams(location.search)
  const queries = settings.search_parameters.map((name) => parameters.get(name)?.trim())
  report(queries.find(Boolean) || '', true)
}

/**
 * A search form counts when it is submitted, except where the page it leads to will count it by its URL:
 * a GET form of this site with a known parameter, unless the page's own script stops it from navigating.
 */
export const searchFromForm = (
  event: Event,
  { action, method }: FormSubmission['form'],
  fields: FormField[],
): void => {
  const isKnown = ({ name }: FormField) => settings.search_parameters.includes(name)
  const field = fields.find((field) => field.type === 'search' || isKnown(field))
  if (!field) return
  const query = closest(field, masked) ? mask : field.value.trim()
  const submitted = () => report(query, false)
  const isCountedByUrl =
    method === 'get' && isKnown(field) && (action || location.href).startsWith(location.origin)
  if (!isCountedByUrl) submitted()
  // Handlers of the page run after this one: whether they stop it is known a task later.
  else setTimeout(() => event.defaultPrevented && submitted())
}
