import { currentPath, currentSearch, go } from './router.tsx'

/**
 * One of a few, kept in a parameter of the page's address, so that it can be sent on and is there after a reload; the
 * first of `options` needs no parameter.
 */
export function urlChoice<Option extends string>(
  parameter: string,
  options: readonly Option[],
): [current: Option, choose: (option: Option) => void] {
  const parameters = new URLSearchParams(currentSearch.value)
  const given = parameters.get(parameter)
  return [
    options.find((option) => option === given) ?? options[0]!,
    (option) => {
      if (option === options[0]) parameters.delete(parameter)
      else parameters.set(parameter, option)
      const search = String(parameters)
      go(currentPath.value + (search && `?${search}`), { replace: true })
    },
  ]
}
