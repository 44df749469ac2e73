/** What a page told of an event: of its members nothing is known yet. */
export type Data = Record<string, unknown>
