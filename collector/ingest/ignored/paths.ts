/** A path, percent-encoded in the form of `URL`, split at each `*`. */
type PathRule = readonly string[]

const pathForm = /^[/*][^?#\\\0-\x1f\x7f]*$/

/** Parses a path, or a pattern of a path with `*`. */
export function readPath(text: string): PathRule | null {
  if (!pathForm.test(text)) return null
  const url = `http://host/${text.startsWith('/') ? text.slice(1) : text}`
  const path = new URL(url).pathname
  return (text.startsWith('/') ? path : path.slice(1)).split('*')
}

export function pathFault(text: string): string | undefined {
  const rule = readPath(text)
  if (!rule)
    return 'must begin with "/" or "*" and have no query, such as /preview, /*/preview/* or *.pdf'
  if (matchesPath(rule, '/'))
    return 'must not match the path "/", because it ignores every page; to stop collecting, deactivate the pixel'
}

/**
 * Returns a function that tests whether a page's path matches a rule, in time linear in the length of the
 * path.
 */
export const pathMatcher =
  (rules: readonly PathRule[]): ((page: URL) => boolean) =>
  ({ pathname }) =>
    rules.some((rule) => matchesPath(rule, pathname))

/** The literals between two `*` are searched from left to right: the first place of each leaves the most for the rest. */
function matchesPath([head = '', ...literals]: PathRule, path: string): boolean {
  if (!path.startsWith(head)) return false
  const tail = literals.pop()
  if (tail === undefined)
    return path.length === head.length || head.endsWith('/') || path[head.length] === '/'
  let at = head.length
  for (const literal of literals) {
    const found = path.indexOf(literal, at)
    if (found === -1) return false
    at = found + literal.length
  }
  return path.length - tail.length >= at && path.endsWith(tail)
}
