/**
 * Maximum age in days of an event that a sender without an API key sends. The pixel drops older events that it could not
 * send earlier.
 */
export const keylessAgeDaysMax = 30
