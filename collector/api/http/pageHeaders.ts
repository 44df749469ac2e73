/** The allowed sources of a page by directive of Content-Security-Policy; all others are forbidden. */
export type PageSources = Readonly<Record<`${string}-src`, string>>

/**
 * Returns the headers of our HTML pages: only required sources, no frames on other sites, no content
 * sniffing. `publicUrl` is not needed, because `'self'` is the origin of the page.
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
  // For browsers without support for frame-ancestors.
  'x-frame-options': 'DENY',
  // URLs of pages contain ids and tokens of invitations, which other sites must not receive.
  'referrer-policy': 'same-origin',
})
