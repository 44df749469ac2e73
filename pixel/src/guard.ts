/** Runs what could go wrong: the host page must not notice. */
export const attempt = <R>(work: () => R): R | undefined => {
  try {
    return work()
  } catch {}
}

/** Keeps a text in storage, or removes it; answers something true where that can be. */
export const store = (key: string, text?: string): unknown =>
  attempt(() => (text ? (localStorage[key] = text) : delete localStorage[key]))

/**
 * JSON of a value, also where the page has given arrays a toJSON of their own, as Prototype.js does. There alone, for
 * browsers take several times as long when they have to ask.
 */
export const json = (value: unknown): string =>
  JSON.stringify(
    value,
    (([] as { toJSON?: unknown }).toJSON &&
      function (this: Record<string, unknown>, key: string, part: unknown) {
        return (this[key] as unknown[] | null)?.map ? this[key] : part
      }) as undefined,
  )
