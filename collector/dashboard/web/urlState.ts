import { currentPath, currentSearch, go } from './router.tsx'

/** A parameter of the page's address; '' where it has none. To be read while drawing. */
export const urlValue = (name: string): string => new URLSearchParams(currentSearch.value).get(name) ?? ''

/** Shows the same page with other parameters; '' takes one away. The way back leads to what was shown. */
export function setUrl(values: Record<string, string>, { replace = false } = {}): void {
  const params = new URLSearchParams(currentSearch.value)
  for (const [name, value] of Object.entries(values)) {
    if (value === '') params.delete(name)
    else params.set(name, value)
  }
  const search = String(params)
  if (search === currentSearch.value.slice(1)) return
  go(currentPath.value + (search && `?${search}`), { replace })
}
