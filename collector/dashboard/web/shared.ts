import { signal } from '@preact/signals'

/**
 * The secret of the share link that the page was opened with; null where somebody signed in looks. It stands in the part
 * of the address that browsers send to nobody, and goes nowhere but into the header of requests.
 */
export const shareSecret = signal<string | null>(null)

/** Whether the page is shown to whoever has a share link. To be read while drawing. */
export const isShared = (): boolean => shareSecret.value !== null
