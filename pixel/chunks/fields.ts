/** The fields of a submitted form: their names, and the term of a search field. */
import type { More } from '../src/more.ts'

const fieldsMax = 500
const kindCharsMax = 200

/** Not the form's own property: an input may be named "elements". */
const elementsOf = (form: Element): HTMLInputElement[] => [
  ...(Reflect.get(HTMLFormElement.prototype, 'elements', form) as Iterable<HTMLInputElement>),
]

export function watchFields(
  more: More,
  { searchField, masked, mask }: { searchField: RegExp; masked: string; mask: string },
): void {
  more.submit = (event, path) => {
    let query: string | undefined
    const fields = elementsOf(path[0]!)
      .filter((field) => field.name && !field.closest('[data-footfall-ignore]'))
      .slice(0, fieldsMax)
      .map((field): [string, string | false] => {
        const kind = `${field.name} ${field.type} ${field.autocomplete}`
        const isSearch = searchField.test(kind)
        if (isSearch) query = field.closest(masked) ? mask : field.value
        return [kind.slice(0, kindCharsMax), isSearch && query!]
      })
    // Where the page changes its URL at once, this is not known yet, and the page view shows the search.
    return () => {
      if (event.defaultPrevented) more.searched = query
      return { fields, prevented: event.defaultPrevented && query }
    }
  }
}
