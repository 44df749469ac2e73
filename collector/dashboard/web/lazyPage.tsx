import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Skeleton } from './components/skeleton.tsx'

export type LazyPage<Props> = ComponentType<Props> & {
  /** Loads the page before it is shown. */
  preload(): void
}

/** A page in its own chunk, which is loaded when the page is first shown. */
export function lazyPage<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LazyPage<Props> {
  let Loaded: ComponentType<Props> | undefined
  function LazyPage(props: Props) {
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>(
      Loaded ? 'loaded' : 'loading',
    )
    useEffect(() => {
      if (Loaded) return
      load().then(
        (page) => {
          Loaded = page
          setState('loaded')
        },
        () => setState('failed'),
      )
    }, [])
    if (state === 'failed') return <NotFetched />
    return Loaded ? <Loaded {...props} /> : <Skeleton />
  }
  // When the page is shown, a failed load is repeated and reported.
  return Object.assign(LazyPage, { preload: () => void load().catch(() => {}) })
}

/** The connection failed, or the service has a newer dashboard whose chunks have other names. */
function NotFetched() {
  return (
    <div class="notice danger" role="alert">
      <p>This page could not be loaded.</p>
      <button type="button" onClick={() => location.reload()}>
        Load again
      </button>
    </div>
  )
}
