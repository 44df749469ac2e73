/** An uploaded file as it lies on the disk, unpacked, and how it is read. Kept as JSON. */
export interface ImportFile {
  /** `ndjson`: each line is a text, or an object with a text under the name of the column. */
  readonly format: 'csv' | 'ndjson'
  /** The name of the column that holds the items; of a CSV file without header the empty text. */
  readonly column: string
  /** For CSV: the index of the field in a row, from 0, the number of fields in a row, and the delimiter. */
  readonly index: number
  readonly fields: number
  readonly delimiter: string
  readonly bytes: number
}

/** Longest line that is read, and longest row of CSV: the rest of it need not be looked for farther. */
export const recordBytesMax = 64 * 1024
