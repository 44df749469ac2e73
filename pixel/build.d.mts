/** Of a built file, in bytes. */
export interface Sizes {
  raw: number
  gzip: number
  brotli: number
}

/** Writes the built files to outDir and answers the sizes of those that browsers load, by name. */
export function buildPixel(options: { outDir: string }): Promise<Record<string, Sizes>>
