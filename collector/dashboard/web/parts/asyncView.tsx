import type { ComponentChildren } from 'preact'
import { ApiError, messageOf } from '../api.ts'
import type { ListQuery, QueryState } from '../useQuery.ts'
import { NotFound } from './notFound.tsx'
import { Skeleton } from './skeleton.tsx'

/** Shows what was loaded; before that that it is on its way, or why it did not come. */
export function AsyncView<T>({
  query,
  lines,
  children,
}: {
  query: Pick<QueryState<T>, 'value' | 'error' | 'reload'>
  /** How many lines high about what comes is. */
  lines?: number | undefined
  children: (value: T) => ComponentChildren
}) {
  const { value, error, reload } = query
  if (value !== undefined) return <>{children(value)}</>
  if (error === undefined) return <Skeleton lines={lines} />
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

/** The items of a list in rows, a button for the next page, and `empty` when there are none. */
export function AsyncList<T>({
  query,
  empty,
  children,
}: {
  query: ListQuery<T>
  empty: ComponentChildren
  children: (item: T) => ComponentChildren
}) {
  return (
    <AsyncView query={query}>
      {(items) =>
        items.length === 0 ? (
          <div class="empty">{empty}</div>
        ) : (
          <>
            <ul class="rows">{items.map(children)}</ul>
            {query.more && (
              <p>
                <button type="button" onClick={query.more}>
                  Show more
                </button>
              </p>
            )}
          </>
        )
      }
    </AsyncView>
  )
}
