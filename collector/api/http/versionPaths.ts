/** Accepts the paths of the API without /api, as some clients write them (spec: a few routes). */
const version = /^\/v[123](?=\/)/

/**
 * Returns the path of a request with /api added if the caller omitted it. It is added before any code reads
 * the path, so both spellings are one route for access rules, rate limits, metering and Idempotency-Key. `*`
 * is not a path (the router would read it as /), and has no route.
 */
export function pathOf(url: string): string {
  if (url.startsWith('*')) return `/${url}`
  return version.test(url) ? `/api${url}` : url
}
