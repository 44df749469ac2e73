import { useEffect, useState } from 'preact/hooks'

/** A value that several components show: whoever uses it is drawn again when it is set. */
export interface Store<T> {
  get(): T
  set(value: T): void
  /** A hook. */
  use(): T
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      value = next
      for (const listener of [...listeners]) listener()
    },
    use() {
      const [, draw] = useState({})
      useEffect(() => {
        const listener = () => draw({})
        listeners.add(listener)
        // What was set between the first drawing and now.
        listener()
        return () => {
          listeners.delete(listener)
        }
      }, [])
      return value
    },
  }
}
