import { useMemo } from 'preact/hooks'
import { currentPath, currentSearch, go } from './router.tsx'

/** Returns the parameters of the address's query. A hook. */
export function useParams(): URLSearchParams {
  const search = currentSearch.value
  return useMemo(() => new URLSearchParams(search), [search])
}

/**
 * Shows the same page with other parameters. Back returns to the current ones, unless the new ones `replace`
 * them. The part after # stays, because it opens a shared page.
 */
export function changeParams(
  change: (params: URLSearchParams) => void,
  options: { replace?: boolean } = {},
): void {
  const params = new URLSearchParams(currentSearch.value)
  change(params)
  const search = params.size > 0 ? `?${params}` : ''
  if (search !== currentSearch.value) go(currentPath.value + search + location.hash, options)
}

/** Returns a parameter of the page's address; '' without one. Call it during rendering. */
export const urlValue = (name: string): string =>
  new URLSearchParams(currentSearch.value).get(name) ?? ''

/** Shows the same page with other parameters; '' removes one. Back returns to the previous parameters. */
export function setUrl(values: Record<string, string>, options: { replace?: boolean } = {}): void {
  changeParams((params) => {
    for (const [name, value] of Object.entries(values)) {
      if (value === '') params.delete(name)
      else params.set(name, value)
    }
  }, options)
}

/**
 * Returns a choice stored in a parameter of the page's address, so that links and reloads preserve it. The
 * first of `options` needs no parameter.
 */
export function urlChoice<Option extends string>(
  parameter: string,
  options: readonly Option[],
): [current: Option, choose: (option: Option) => void] {
  const given = urlValue(parameter)
  return [
    options.find((option) => option === given) ?? options[0]!,
    (option) => setUrl({ [parameter]: option === options[0] ? '' : option }, { replace: true }),
  ]
}
