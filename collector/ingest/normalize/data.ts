/** Event data from a page, whose members are not checked yet. */
export type Data = Record<string, unknown>
