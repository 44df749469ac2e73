import type { NotedData } from '../../../schemas/noted.ts'
import { describe, mask, masked } from '../element.ts'
import { reacted } from '../reaction.ts'

/** What was searched for last on this page, in a form. */
export let searched: string | undefined

export const submit = (event: Event, path: Element[]): (() => NotedData<'submit'>) => {
  const form = path[0] as HTMLFormElement
  // Not form.elements: an input named "elements" hides that. And fields may stand outside their form.
  const fields = [...document.querySelectorAll<HTMLInputElement>('[name]')]
    .filter((field) => field.form === form && !field.closest('[data-footfall-ignore]'))
    .map((field): [string, string | false] => {
      const kind = `${field.name} ${field.type} ${field.autocomplete}`
      return [kind, config.searchField.test(kind) && (searched = field.closest(masked) ? mask : field.value)]
    })
  reacted()
  return () => ({
    form: describe(form, path),
    fields,
    prevented: event.defaultPrevented,
  })
}
