import { currentSearch } from './router.tsx'
import { changeParams } from './view/params.ts'

/** A parameter of the page's address; '' where it has none. To be read while drawing. */
export const urlValue = (name: string): string => new URLSearchParams(currentSearch.value).get(name) ?? ''

/** Shows the same page with other parameters; '' takes one away. The way back leads to what was shown. */
export function setUrl(values: Record<string, string>, options: { replace?: boolean } = {}): void {
  changeParams((params) => {
    for (const [name, value] of Object.entries(values)) {
      if (value === '') params.delete(name)
      else params.set(name, value)
    }
  }, options)
}
