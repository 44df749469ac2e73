/** Names that other products use and Unicode's table of regions does not. */
const aliases = {
  Turkey: 'TR',
  'Czech Republic': 'CZ',
  'Hong Kong': 'HK',
  Macao: 'MO',
  Macau: 'MO',
  Myanmar: 'MM',
  Palestine: 'PS',
  'The Bahamas': 'BS',
  'The Gambia': 'GM',
}

let codes: Map<string, string> | undefined

/** Returns the ISO 3166-1 code of an English country name, such as "United States". */
export function countryCode(name: string): string | undefined {
  codes ??= namedCodes()
  return codes.get(keyOf(name))
}

/** A name in one of its spellings: "Côte d’Ivoire" is "Cote d'Ivoire", and "St. Lucia" is "Saint Lucia". */
const keyOf = (name: string): string =>
  name
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll('’', "'")
    .replaceAll(' & ', ' and ')
    .replaceAll('St. ', 'Saint ')

function namedCodes(): Map<string, string> {
  const found = new Map(Object.entries(aliases).map(([name, code]) => [keyOf(name), code]))
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index))
  for (const style of ['long', 'short'] as const) {
    const names = new Intl.DisplayNames('en', { type: 'region', style, fallback: 'none' })
    for (const first of letters)
      for (const second of letters) {
        const code = first + second
        const name = names.of(code)
        const key = name && keyOf(name)
        if (key && isCurrent(code) && !found.has(key)) found.set(key, code)
      }
  }
  return found
}

/** Whether a region keeps its code in the canonical form: DD, for example, becomes DE. */
const isCurrent = (code: string): boolean =>
  Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`
