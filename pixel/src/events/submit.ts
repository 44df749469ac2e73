import type { CapturedData } from '../../../schemas/captured.ts'
import { describe, find, mask, masked } from '../element.ts'
import { ask, real } from '../safe.ts'

/** The last search on this page, in a form that the page handled itself: that search counts. */
export let searched: string | undefined

export const submit = (event: Event, path: Element[]): (() => CapturedData<'submit'>) => {
  const form = path[0] as HTMLFormElement
  let query: string | undefined
  // Not form.elements: an input named "elements" hides that. And fields may stand outside their form.
  const root = real(form, 'getRootNode').call(form)
  const fields = [...ask(root, '[name]', 'querySelectorAll')!]
    .filter((field) => field.form === form && !field.closest('[data-footfall-ignore]'))
    .map((field): [string, string | false] => {
      const kind = `${field.name} ${field.type} ${field.autocomplete}`
      return [
        kind,
        config.searchField.test(kind) && (query = field.closest(masked) ? mask : field.value),
      ]
    })
  return () => ({
    form: describe(form, find(path, masked)),
    base: real(document, 'baseURI'),
    fields,
    // Where the page changes its URL at once, this is not known yet, and the page view shows the search.
    prevented: event.defaultPrevented && (searched = query),
  })
}
