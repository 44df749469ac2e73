/** Returns the form in which e-mail addresses are compared and stored: trimmed and lower-cased. */
export const normalizedEmail = (email: string): string => email.trim().toLowerCase()

/**
 * Removes what people copy with an address: invisible characters, `mailto:` with its parameters, and a name before
 * `<ann@example.com>`. identity/load/valuesSql.ts has the same as SQL.
 */
export const withoutEmailMarkup = (text: string): string =>
  text
    .replace(/[\p{Cf}\p{Cc}]/gu, '')
    .replace(/^[^<]*<([^<>@\s]+@[^<>\s]+)>\s*$/, '$1')
    .replace(/^\s*mailto:([^?]*).*$/i, '$1')
    .replace(/^[\s\p{Z}]+|[\s\p{Z},;]+$/gu, '')
