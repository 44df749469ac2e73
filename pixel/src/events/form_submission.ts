import { attribute, closest, ignored, link, targetOf } from '../element.ts'
import { listen } from '../guard.ts'
import { capture } from '../queue.ts'
import { marking, trackMarked } from './custom.ts'
import { searchFromForm } from './search.ts'

export type FormField = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** Not form.elements: an input named "elements" hides that. And fields may stand outside their form. */
const fieldsOf = (form: Element) => {
  // Never looked at, not even for their names.
  const secret = `[type=password],[type=hidden],[autocomplete^=cc-],${ignored}`
  return [...document.querySelectorAll<FormField>('input,select,textarea')].filter(
    (field) => field.form === form && field.name && !closest(field, secret),
  )
}

export const watchForms = (): void => {
  listen('submit', (event) => {
    const element = targetOf(event)
    if (!element) return
    const fields = fieldsOf(element)
    const form = {
      id: attribute(element, 'id'),
      name: attribute(element, 'name'),
      action: link(element, 'action'),
      method: (attribute(element, 'method') || 'get').toLowerCase(),
    }
    capture('form_submission', { form, fields: [...new Set(fields.map(({ name }) => name))].slice(0, 500) })
    searchFromForm(event, form, fields)
    if (attribute(element, marking)) trackMarked(element)
  })
}
