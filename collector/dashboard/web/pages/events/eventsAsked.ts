import type { RecordsQuery } from '../../view/view.ts'

/** The user's request, as the API accepts it. */
export type EventsRequest = RecordsQuery & { select: string; limit: number; order: 'desc' | 'asc' }
