import type { ComponentChildren, VNode } from 'preact'
import { ApiError, messageOf } from '../api.ts'
import { type ListQuery, type QueryState, useAllPages } from '../useQuery.ts'
import { type Arrangement, arranged, isArranged, ListTools } from './listTools.tsx'
import { MoreButton } from './moreButton.tsx'
import { NotFound } from './notFound.tsx'
import { Skeleton } from './skeleton.tsx'

/** Shows loaded content; before that a skeleton, or the reason of a failure. */
export function AsyncView<T>({
  query,
  lines,
  skeleton = <Skeleton lines={lines} />,
  children,
}: {
  query: Pick<QueryState<T>, 'value' | 'error' | 'reload'>
  /** Approximate height of the content in lines. */
  lines?: number | undefined
  /** The skeleton that is shown until it arrives; absent: lines. */
  skeleton?: VNode
  children: (value: T) => ComponentChildren
}) {
  const { value, error, reload } = query
  if (value !== undefined) return <>{children(value)}</>
  if (error === undefined) return skeleton
  if (error instanceof ApiError && error.status === 404) return <NotFound />
  return (
    <div class="notice danger" role="alert">
      <p>{error instanceof ApiError ? messageOf(error) : 'Something went wrong.'}</p>
      <button type="button" onClick={reload}>
        Try again
      </button>
    </div>
  )
}

/** Lists with at least this many items can be searched and sorted. */
const arrangedFrom = 4

/**
 * The items of a list in rows, a button for the next page, and `empty` without items. With an `arrangement`
 * the user may search and sort them; then all pages are loaded, because one page would be incomplete.
 */
export function AsyncList<T>({
  query,
  empty,
  of = 'the list',
  prefix = '',
  arrangement,
  children,
}: {
  query: ListQuery<T>
  empty: ComponentChildren
  /** Subject of the list, for screen readers. */
  of?: string
  /** Distinguishes the lists of a page in its address. */
  prefix?: string
  arrangement?: Arrangement<T>
  children: (item: T) => ComponentChildren
}) {
  const isWhole = !query.more
  const wantsAll = useAllPages(query, arrangement !== undefined && isArranged(prefix))
  return (
    <AsyncView query={query}>
      {(items) =>
        items.length === 0 ? (
          <div class="empty">{empty}</div>
        ) : (
          <>
            <ArrangedRows
              items={items}
              of={of}
              prefix={prefix}
              arrangement={arrangement}
              isWhole={isWhole}
            >
              {children}
            </ArrangedRows>
            <MoreButton more={!wantsAll && query.more} />
          </>
        )
      }
    </AsyncView>
  )
}

/** Shows items in rows; with an arrangement and enough items, they can be searched and sorted. */
export function ArrangedRows<T>({
  items,
  isWhole = true,
  of,
  prefix = '',
  arrangement,
  children,
}: {
  items: readonly T[]
  /** Whether all items are loaded. */
  isWhole?: boolean
  of: string
  prefix?: string
  arrangement: Arrangement<T> | undefined
  children: (item: T) => ComponentChildren
}) {
  return (
    <>
      {arrangement && (items.length >= arrangedFrom || !isWhole || isArranged(prefix)) && (
        <ListTools of={of} prefix={prefix} sorts={arrangement.sorts} />
      )}
      <Rows items={arrangement ? arranged(items, arrangement, prefix) : items}>{children}</Rows>
    </>
  )
}

function Rows<T>({
  items,
  children,
}: {
  items: readonly T[]
  children: (item: T) => ComponentChildren
}) {
  if (items.length === 0) return <p class="hint">No row matches your search.</p>
  return <ul class="rows">{items.map(children)}</ul>
}
