export const stub: string
export function snippet(
  scriptUrl: string,
  options?: { integrity?: string; nonce?: string; inline?: boolean },
): string
