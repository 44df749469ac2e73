import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

/** The state of a request: value and error are undefined while it is loading. */
export interface QueryState<T> {
  value: T | undefined
  error: unknown
  /** Loads again; the old data stays until the response arrives. */
  reload(): Promise<void>
  set(value: T): void
}

/** Sends a request once when the component appears. A hook. */
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
  /** Adds the next page; absent when all items are loaded. */
  more?: () => Promise<void>
}

/**
 * Loads a list's first page when the component appears, and further ones on request; `itemsOf` returns the
 * items of a response. A hook.
 */
export function useListQuery<Page extends { next_cursor?: string }, T>(
  ask: (cursor?: string) => Promise<Page>,
  itemsOf: (page: Page) => T[],
): ListQuery<T> {
  const read = async (after?: string) => {
    const page = await ask(after)
    return { items: itemsOf(page), cursor: page.next_cursor }
  }
  const page = useQuery(() => read())
  const { items, cursor } = page.value ?? {}
  return {
    ...page,
    value: items,
    set: (items) => page.set({ items, cursor }),
    ...(items &&
      cursor && {
        more: async () => {
          const next = await read(cursor)
          page.set({ ...next, items: [...items, ...next.items] })
        },
      }),
  }
}

/** Most items that are loaded automatically. */
const fetchedMax = 1_000

/**
 * Loads all pages of a list if `areWanted`, for search and sort, which a single page would make incomplete.
 * Returns whether pages are still loading. A hook.
 */
export function useAllPages<T>({ value, more }: ListQuery<T>, areWanted: boolean): boolean {
  const isComing = areWanted && (value?.length ?? 0) < fetchedMax
  useEffect(() => {
    if (isComing) void more?.()
  }, [isComing, value])
  return isComing
}

/**
 * Sends a request when the component appears, and when `key`, which identifies the request, changes. Until
 * the new response arrives, the old one stays and is marked as stale. If `refreshes` changes, the request is
 * repeated quietly: the old response is not marked, and stays if the request fails. A hook.
 */
export function useQueryOf<T>(
  key: string,
  ask: () => Promise<T>,
  refreshes = 0,
): QueryState<T> & { isStale: boolean } {
  const [{ of, value, error }, setState] = useState<{ of?: string; value?: T; error?: unknown }>({})
  const latest = useRef({ key, refreshes, isQuiet: false })
  const before = latest.current
  if (refreshes !== before.refreshes)
    latest.current = { key, refreshes, isQuiet: before.isQuiet || of === before.key }
  else if (key !== before.key) latest.current = { key, refreshes, isQuiet: false }
  const reload = useCallback(async () => {
    const settle = (answer: { value: T } | { error: unknown }) => {
      if (latest.current.key !== key) return
      const isFailedRefresh = latest.current.isQuiet && 'error' in answer
      setState((shown) => ({ ...(isFailedRefresh ? shown : answer), of: key }))
    }
    try {
      settle({ value: await ask() })
    } catch (error) {
      settle({ error })
    }
  }, [key])
  useEffect(() => void reload(), [reload, refreshes])
  return {
    value,
    error,
    reload,
    set: (value) => setState({ of: key, value }),
    isStale: of !== key && !latest.current.isQuiet,
  }
}

/**
 * Repeats an action while the page is visible, each time after the previous one has ended. An action that was
 * due in the meantime follows when the page becomes visible. Failures are tried again the next time. A hook.
 */
export function useRepeat(act: () => Promise<unknown>, everyMs: number, isWanted = true): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    if (!isWanted) return
    let timer: ReturnType<typeof setTimeout>
    let isOver = false
    let isDue = false
    const wait = () => {
      timer = setTimeout(repeat, everyMs)
    }
    const repeat = async () => {
      isDue = document.hidden
      if (isDue) return
      await latest.current().catch(() => {})
      if (!isOver) wait()
    }
    const appear = () => {
      if (isDue && !document.hidden) void repeat()
    }
    wait()
    document.addEventListener('visibilitychange', appear)
    return () => {
      isOver = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', appear)
    }
  }, [isWanted])
}
