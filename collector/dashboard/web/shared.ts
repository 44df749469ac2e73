import { signal } from '@preact/signals'

/**
 * The secret of the share link that opened the page; null for signed-in users. It is in the part of the
 * address that browsers do not send, and only in a header of requests.
 */
export const shareSecret = signal<string | null>(null)

/** Whether a share link opened the page. Call it during rendering. */
export const isShared = (): boolean => shareSecret.value !== null
