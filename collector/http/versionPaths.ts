/** The API's paths as some clients write them (spec: a few routes are also written without /api). */
const version = /^\/v[123](?=\/)/

/**
 * A path with the /api that it was written without. It is put there before anything looks at the request, so both
 * spellings are one route: access rules, rate limits, metering and Idempotency-Key cannot tell them apart.
 */
export const withApiPrefix = (url: string): string => (version.test(url) ? `/api${url}` : url)
