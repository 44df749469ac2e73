export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** At most so many characters; half a surrogate pair at the end would not survive as UTF-8. */
export const cut = (value: unknown, length: number): string | undefined =>
  textOf(value)
    ?.slice(0, length)
    .replace(/[\ud800-\udbff]$/, '')

/** As people read it: each space once. */
export const clean = (value: unknown): string | undefined => textOf(value)?.replace(/\s+/g, ' ').trim()
