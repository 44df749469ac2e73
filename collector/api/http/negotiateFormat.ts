import { notAcceptable } from './errors.ts'

/** The formats of rows, the default first. */
export const formats = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const
export type Format = keyof typeof formats

/** A format of typed columns in binary form. */
export type TableFormat = 'arrow' | 'parquet'

export const isTable = (format: Format): format is TableFormat =>
  format === 'arrow' || format === 'parquet'

/** Whether people save answers of this format as files. */
export const isFile = (format: Format): boolean => format === 'csv' || isTable(format)

export const contentTypeOf = (format: Format): string =>
  isTable(format) ? formats[format] : `${formats[format]}; charset=utf-8`

interface Range {
  pattern: string
  quality: number
}

/**
 * Chooses the format of a response from the Accept header: by best quality, then by most specific range, then
 * JSON. A header without a known format gets JSON; if it excludes JSON, throws 406.
 */
export function negotiateFormat(accept: string | undefined): Format {
  const ranges = (accept ?? '*/*').split(',').map(readRange)
  const ranked = (Object.keys(formats) as Format[])
    .map((format) => ({ format, ...match(formats[format], ranges) }))
    .sort((a, b) => b.quality - a.quality || b.exactness - a.exactness)
  const best = ranked[0]!
  if (best.quality > 0) return best.format
  const json = ranked.find(({ format }) => format === 'json')!
  if (json.exactness >= 0) throw notAcceptable(Object.values(formats))
  return 'json'
}

function readRange(text: string): Range {
  const [pattern = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
  return { pattern, quality: Number.isNaN(quality) ? 1 : quality }
}

/** The most specific range that matches `type` decides; its specificity is -1 if none matches. */
function match(type: string, ranges: readonly Range[]): { quality: number; exactness: number } {
  const patterns = ['*/*', `${type.split('/')[0]}/*`, type]
  return ranges
    .map(({ pattern, quality }) => ({ quality, exactness: patterns.indexOf(pattern) }))
    .reduce((best, range) => (range.exactness > best.exactness ? range : best), {
      quality: 0,
      exactness: -1,
    })
}
