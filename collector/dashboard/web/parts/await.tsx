import type { ComponentChildren } from 'preact'
import { ApiError } from '../http.ts'
import type { Loaded, LoadedList } from '../load.ts'
import { NotFound } from './notFound.tsx'

/** Shows what was loaded; before that that it is on its way, or why it did not come. */
export function Await<T>({
  loaded,
  children,
}: {
  loaded: Loaded<T>
  children: (value: T) => ComponentChildren
}) {
  const { value, error, reload } = loaded
  if (value !== undefined) return <>{children(value)}</>
  if (error === undefined) {
    return (
      <p class="loading" role="status">
        Loading…
      </p>
    )
  }
  if (error instanceof ApiError && error.status === 404) return <NotFound />
  return (
    <div class="notice danger" role="alert">
      <p>{error instanceof Error ? error.message : 'Something went wrong.'}</p>
      <button type="button" onClick={reload}>
        Try again
      </button>
    </div>
  )
}

/** The items of a list in rows, a button for the next page, and `empty` when there are none. */
export function AwaitList<T>({
  loaded,
  empty,
  children,
}: {
  loaded: LoadedList<T>
  empty: ComponentChildren
  children: (item: T) => ComponentChildren
}) {
  return (
    <Await loaded={loaded}>
      {(items) =>
        items.length === 0 ? (
          <div class="empty">{empty}</div>
        ) : (
          <>
            <ul class="rows">{items.map(children)}</ul>
            {loaded.more && (
              <p>
                <button type="button" onClick={loaded.more}>
                  Show more
                </button>
              </p>
            )}
          </>
        )
      }
    </Await>
  )
}
