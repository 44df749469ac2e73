/** Longest stored tag; "ca-ES-valencia" has fourteen characters. */
const tagCharsMax = 35

/** A language, with its script and region if given. */
const tagPattern = /^\s*([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|\d{3}))?(?=[-,;\s]|$)/i

/**
 * Returns the language that a browser prefers, "en-GB", from its Accept-Language header, in the form of RFC
 * 5646; null if it names none.
 */
export function preferredLanguage(acceptLanguage: string | undefined): string | null {
  const parts = acceptLanguage && tagPattern.exec(acceptLanguage.slice(0, tagCharsMax))
  if (!parts) return null
  const [, language, script, region] = parts
  return [
    language!.toLowerCase(),
    ...(script ? [script[0]!.toUpperCase() + script.slice(1).toLowerCase()] : []),
    ...(region ? [region.toUpperCase()] : []),
  ].join('-')
}
