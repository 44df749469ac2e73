/** Wraps an entry point: whatever goes wrong in here, the host page must not notice. */
export const safely =
  <A extends unknown[], R>(work: (...args: A) => R) =>
  (...args: A): R | undefined => {
    try {
      return work(...args)
    } catch {}
  }

/**
 * On window and in the capture phase: that sees what does not bubble (media events, scrolling inside
 * elements) and what the page stops from bubbling. Passive: we never cancel anything.
 */
export const listen = <E extends Event>(type: string, handler: (event: E) => void): void =>
  addEventListener(type, safely(handler) as EventListener, { capture: true, passive: true })
