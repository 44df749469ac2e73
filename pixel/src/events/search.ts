import { searchParameters } from '../config.ts'
import { note } from '../queue.ts'

/** The search this page shows. Its next pages, filters and history restores are no new searches. */
let shown = ''

export const search = (query: string): void => {
  if (query && query !== shown) {
    note('search', {
      query,
      /** What the results page says by the time the event is encoded. */
      get results_count() {
        return document.querySelector<HTMLElement>('[data-footfall-results]')?.dataset.footfallResults
      },
    })
  }
  shown = query
}

/** For each page view: has the URL one of the parameters this site searches by? */
export const searchFromUrl = (): void => {
  let query = ''
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (searchParameters.test(name)) query = value
  }
  search(query)
}
