/** The API's paths as some clients write them (spec: a few routes are also written without /api). */
const version = /^\/v[123](?=\/)/

/**
 * The path of a request, with the /api that callers may omit. It is added before anything reads the request,
 * so both spellings are one route for access rules, rate limits, metering and Idempotency-Key. `*` is not a
 * path (the router would read it as /), and has no route.
 */
export function pathOf(url: string): string {
  if (url.startsWith('*')) return `/${url}`
  return version.test(url) ? `/api${url}` : url
}
