import { masked, searchParameters } from '../config.ts'
import { describe, find, ignored, mask } from '../element.ts'
import { note } from '../queue.ts'
import { reacted } from '../reaction.ts'
import { noteMarked } from './custom.ts'
import { search } from './search.ts'

/** Secret ones are never looked at, not even for their names. */
const named = `:is(input,select,textarea)[name]:not([type=password],[type=hidden],[autocomplete^=cc-],${ignored},${ignored} *)`

export const submit = (event: Event, path: Element[]): void => {
  const form = path[0] as HTMLFormElement
  // Not form.elements: an input named "elements" hides that. And fields may stand outside their form.
  const fields = [...document.querySelectorAll<HTMLInputElement>(named)].filter(
    (field) => field.form === form,
  )
  const isKnown = ({ name }: HTMLInputElement) => searchParameters.test(name)
  const field = fields.find((field) => field.type === 'search' || isKnown(field))
  reacted()
  note('form_submission', { form: describe(form), fields: fields.map(({ name }) => name) })
  noteMarked(find([form], '[data-footfall-event]'))
  if (!field) return
  const query = field.closest(masked) ? mask : field.value
  // The page it leads to counts a GET form's search by its URL, unless handlers, which run after this one, stop it.
  setTimeout(() => {
    if (event.defaultPrevented || form.method === 'post' || !isKnown(field)) search(query)
  })
}
