import type { RecordsQuery } from '../../view/view.ts'

/** What the reader asks for, as the API takes it. */
export type EventsAsked = RecordsQuery & { select: string; limit: number; order: 'desc' | 'asc' }
