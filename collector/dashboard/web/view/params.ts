import { useMemo } from 'preact/hooks'
import { currentPath, currentSearch, go } from '../router.tsx'

/** The parameters of the address's query. A hook. */
export function useParams(): URLSearchParams {
  const search = currentSearch.value
  return useMemo(() => new URLSearchParams(search), [search])
}

/** Shows the same page with other parameters; the way back leads to these, unless the others `replace` them. */
export function changeParams(
  change: (params: URLSearchParams) => void,
  options: { replace?: boolean } = {},
): void {
  const params = new URLSearchParams(currentSearch.value)
  change(params)
  const search = params.size > 0 ? `?${params}` : ''
  if (search !== currentSearch.value) go(currentPath.value + search, options)
}
