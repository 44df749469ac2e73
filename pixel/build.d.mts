export function buildPixel(options: {
  outDir: string
}): Promise<{ raw: number; gzip: number; brotli: number }>
