/**
 * The header Deprecation (RFC 9745) of an answer to a deprecated way to authenticate: the time since when it is
 * deprecated, in seconds since 1970. These ways are `POST /auth/v1/login`, and an API key without its secret.
 */
export const oldAuthentication = { deprecation: `@${Date.UTC(2026, 0, 1) / 1000}` }
