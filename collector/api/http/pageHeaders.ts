/** Where the parts of a page may come from, by the directives of Content-Security-Policy; the rest is forbidden. */
export type PageSources = Readonly<Record<`${string}-src`, string>>

/**
 * The headers of our HTML pages: only required sources, no frame of another site, no content sniffing.
 * `publicUrl` is not needed, because `'self'` is the origin of the page.
 */
export const pageHeaders = (sources: PageSources): Record<string, string> => ({
  'content-security-policy': [
    "default-src 'none'",
    ...Object.entries(sources).map(([directive, from]) => `${directive} ${from}`),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  // For browsers that do not know frame-ancestors.
  'x-frame-options': 'DENY',
  // Addresses of pages contain ids and an invitation's token, which other sites must not receive.
  'referrer-policy': 'same-origin',
})
