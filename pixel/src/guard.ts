/** Runs what could go wrong: the host page must not notice. */
export const attempt = <R>(work: () => R): R | undefined => {
  try {
    return work()
  } catch {}
}

/** Keeps a text in storage, or removes it; answers something true where that can be. */
export const store = (key: string, text?: string): unknown =>
  attempt(() => (text ? (localStorage[key] = text) : delete localStorage[key]))
