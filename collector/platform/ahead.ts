/** Reads the next item while the consumer works on the current one. Ends the source when the consumer leaves. */
export async function* ahead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = items.next()
  try {
    for (;;) {
      const { value, done } = await next
      if (done) return
      next = items.next()
      // The consumer receives the error later; until then the promise needs a handler.
      next.catch(() => {})
      yield value
    }
  } finally {
    // Not awaited: a source that still reads ends after its read.
    items.return(undefined).catch(() => {})
  }
}
