/** Where the parts of a page may come from, by the directives of Content-Security-Policy; the rest is forbidden. */
export type PageSources = Readonly<Record<`${string}-src`, string>>

/**
 * The headers of an HTML page: only required sources, and no content sniffing. Only pages of `frameAncestors` may show it
 * in a frame. `'self'` is the origin of the page, which may differ from `publicUrl`.
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
  // For browsers that do not know frame-ancestors.
  ...(frameAncestors.length === 0 && { 'x-frame-options': 'DENY' }),
  // Addresses of pages hold ids and an invitation's token: they are for nobody else.
  'referrer-policy': 'same-origin',
})
