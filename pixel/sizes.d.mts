import type { Sizes } from './build.d.mts'

export const history: { change: string; brotli: number }[]
export const budget: Record<string, number> & { 'pixel.js': number }
export function printSizes(sizes: Record<string, Sizes>): void
