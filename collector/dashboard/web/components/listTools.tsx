import { setUrl, urlValue } from '../urlState.ts'

/** How to search and sort a list; the first of `sorts` is the default order. */
export interface Arrangement<T> {
  /** The text to search. */
  text(item: T): string
  sorts: Record<string, { label: string; compare?(one: T, other: T): number }>
}

/**
 * Whether the address contains a search or order for the list; `prefix` distinguishes the lists of a page.
 */
export const isArranged = (prefix: string): boolean =>
  urlValue(`${prefix}q`) !== '' || urlValue(`${prefix}sort`) !== ''

/** The items that match the search, in the chosen order. */
export function arranged<T>(
  items: readonly T[],
  { text, sorts }: Arrangement<T>,
  prefix: string,
): readonly T[] {
  const wanted = urlValue(`${prefix}q`).trim().toLowerCase()
  const found =
    wanted === '' ? items : items.filter((item) => text(item).toLowerCase().includes(wanted))
  const compare = sorts[urlValue(`${prefix}sort`)]?.compare
  return compare ? found.toSorted(compare) : found
}

/** The fields for search and order. */
export function ListTools<T>({
  of,
  prefix,
  sorts,
}: {
  of: string
  prefix: string
  sorts: Arrangement<T>['sorts']
}) {
  const [initial] = Object.keys(sorts)
  const sort = urlValue(`${prefix}sort`)
  return (
    <div class="list-tools">
      <input
        type="search"
        aria-label={`Search ${of}`}
        placeholder="Search"
        value={urlValue(`${prefix}q`)}
        onInput={({ currentTarget: { value } }) =>
          setUrl({ [`${prefix}q`]: value }, { replace: true })
        }
      />
      <select
        aria-label={`Sort ${of}`}
        onChange={({ currentTarget: { value } }) =>
          setUrl({ [`${prefix}sort`]: value === initial ? '' : value }, { replace: true })
        }
      >
        {Object.entries(sorts).map(([name, { label }]) => (
          <option key={name} value={name} selected={name === (sort || initial)}>
            {label}
          </option>
        ))}
      </select>
    </div>
  )
}

export const byText =
  <T,>(textOf: (item: T) => string | null) =>
  (one: T, other: T): number =>
    (textOf(one) ?? '').localeCompare(textOf(other) ?? '', undefined, { numeric: true })

/** Sorts the newest or largest first; items without a value are last. */
export const byLargest =
  <T,>(amountOf: (item: T) => string | number | null) =>
  (left: T, right: T): number => {
    const [one, other] = [amountOf(left), amountOf(right)]
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    return one < other ? 1 : one > other ? -1 : 0
  }
