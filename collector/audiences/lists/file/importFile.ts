/** An uploaded file on the disk, unpacked, and the parameters for reading it. Stored as JSON. */
export interface ImportFile {
  /** `ndjson`: each line is a text, or an object with a text in the member `column`. */
  readonly format: 'csv' | 'ndjson'
  /** The name of the column with the items; for a CSV file without header the empty text. */
  readonly column: string
  /** For CSV: the index of the field in a row, from 0, the number of fields in a row, and the delimiter. */
  readonly index: number
  readonly fields: number
  readonly delimiter: string
  readonly bytes: number
}

/** Longest line and longest CSV row; the search for their end stops here. */
export const recordBytesMax = 64 * 1024
