/** The API's paths as some clients write them (spec: a few routes are also written without /api). */
const version = /^\/v[123](?=\/)/

/**
 * What a request asks for, as a path, with the /api that it was written without. It is put there before anything
 * looks at the request, so both spellings are one route: access rules, rate limits, metering and Idempotency-Key
 * cannot tell them apart. `*` is no path (the router would take it for /), and no route of ours.
 */
export function pathOf(url: string): string {
  if (url.startsWith('*')) return `/${url}`
  return version.test(url) ? `/api${url}` : url
}
