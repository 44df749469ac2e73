/** The allowed sources of a page by directive of Content-Security-Policy; all others are forbidden. */
type PageSources = Readonly<Record<`${string}-src`, string>>

/**
 * Returns the headers of an HTML page: only required sources, and no content sniffing. Only pages of
 * `frameAncestors` may show it in a frame. `'self'` is the origin of the page, which may differ from `publicUrl`.
 */
export const pageHeaders = (
  sources: PageSources,
  frameAncestors: readonly string[] = [],
): Record<string, string> => ({
  'content-security-policy': [
    "default-src 'none'",
    ...Object.entries(sources).map(([directive, from]) => `${directive} ${from}`),
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'"}`,
  ].join('; '),
  'x-content-type-options': 'nosniff',
  // For browsers without support for frame-ancestors.
  ...(frameAncestors.length === 0 && { 'x-frame-options': 'DENY' }),
  // URLs of pages contain ids and tokens of invitations, which other sites must not receive.
  'referrer-policy': 'same-origin',
})
