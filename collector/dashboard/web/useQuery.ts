import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Page } from './http.ts'

/** Something a page asked for: undefined value and error while it is on its way. */
export interface QueryState<T> {
  value: T | undefined
  error: unknown
  /** Asks again; what was there stays until the answer comes. */
  reload(): Promise<void>
  set(value: T): void
}

/** Asks once when the component appears. A hook. */
export function useQuery<T>(ask: () => Promise<T>): QueryState<T> {
  const [{ value, error }, setState] = useState<{ value?: T; error?: unknown }>({})
  const reload = useCallback(async () => {
    try {
      setState({ value: await ask() })
    } catch (error) {
      setState({ error })
    }
  }, [])
  useEffect(() => void reload(), [])
  return { value, error, reload, set: (value) => setState({ value }) }
}

export interface ListQuery<T> extends QueryState<T[]> {
  /** Adds the next page; absent when all is there. */
  more?: () => Promise<void>
}

/** Asks for a list's first page when the component appears, and for further ones when told. A hook. */
export function useListQuery<T>(ask: (cursor?: string) => Promise<Page<T>>): ListQuery<T> {
  const page = useQuery(ask)
  const { items, cursor } = page.value ?? {}
  return {
    ...page,
    value: items,
    set: (items) => page.set({ items, ...(cursor && { cursor }) }),
    ...(items &&
      cursor && {
        more: async () => {
          const next = await ask(cursor)
          page.set({ ...next, items: [...items, ...next.items] })
        },
      }),
  }
}
