const offset = 0x1f1e6 - 'A'.charCodeAt(0)

/** The flag of a country by its ISO 3166-1 code; '' for none. */
export const flagOf = (code: string | null): string =>
  code && /^[A-Z]{2}$/.test(code)
    ? String.fromCodePoint(...[...code].map((letter) => letter.charCodeAt(0) + offset))
    : ''
