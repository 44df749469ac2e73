export function buildAll(): Promise<void>
export function buildStale(): Promise<void>
