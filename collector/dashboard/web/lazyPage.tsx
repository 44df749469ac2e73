import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Skeleton } from './components/skeleton.tsx'

export type LazyPage<Props> = ComponentType<Props> & {
  /** Fetches it before it is shown. */
  preload(): void
}

/** A page that is a chunk of its own: fetched when it is first shown, and drawn at once ever after. */
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
  // What fails is asked for again, and told, when it is shown.
  return Object.assign(LazyPage, { preload: () => void load().catch(() => {}) })
}

/** The connection failed, or the service has a newer dashboard, whose chunks have other names. */
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
