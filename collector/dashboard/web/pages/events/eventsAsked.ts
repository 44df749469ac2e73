import type { ViewQuery } from '../../view/view.ts'

/** What the reader asks for, as the API takes it. */
export type EventsAsked = ViewQuery & { select: string; limit: number; order: 'desc' | 'asc' }
