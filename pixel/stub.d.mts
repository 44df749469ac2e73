export const stub: string
export function snippet(scriptUrl: string): string
