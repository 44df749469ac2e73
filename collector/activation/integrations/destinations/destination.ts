import type { Static, TObject } from 'typebox'
import type { Outbound } from '../../../platform/outbound/outbound.ts'

export const integrationTypes = [
  'hubspot',
  'salesforce',
  's3',
  'webhook',
  'the_trade_desk',
  'meta_ads',
] as const
export type IntegrationType = (typeof integrationTypes)[number]

export const outputFormats = [
  'csv',
  'ndjson',
  'parquet',
  'hem',
  'ip_address',
  'company_domain',
  'crm',
] as const
export type OutputFormat = (typeof outputFormats)[number]

/** Formats whose chunks are files that ClickHouse writes. */
export const fileFormats = ['csv', 'ndjson', 'parquet'] as const satisfies readonly OutputFormat[]

/** The action that makes a failed request succeed: another try, a fix of the cause in the reason, or nothing. */
export const failureClasses = ['retry', 'needs_action', 'never'] as const
export type FailureClass = (typeof failureClasses)[number]

/**
 * A destination refused a request. `message` is for the customer. With class `needs_action` the run stops, and with
 * class `never` this request's records fail. With class `retry` the request is sent again, not before
 * `afterSeconds` if given. The destination requests this delay, so it is not a failure.
 */
export class DestinationError extends Error {
  readonly failureClass: FailureClass
  readonly afterSeconds: number | null

  constructor(failureClass: FailureClass, message: string, afterSeconds: number | null = null) {
    super(message)
    this.failureClass = failureClass
    this.afterSeconds = afterSeconds
    this.name = 'DestinationError'
  }
}

export interface DestinationField {
  readonly name: string
  readonly label: string
}

export interface OutgoingRecord {
  /** Its key in the build. */
  readonly key: number
  /** The hem, or the company's domain. */
  readonly id: string
  /** Field of the destination → value; never empty or null. */
  readonly values: Readonly<Record<string, unknown>>
}

/** A local file with the records of a chunk, which exists until the chunk is completed. */
export interface ChunkFile {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

/** A file of an archive: stored on this machine, or short enough to be text. */
export interface NamedFile {
  /** Its name in the bucket, after the prefix. */
  readonly name: string
  readonly content: ChunkFile | { readonly text: string }
}

/** Some records of a run, sent together and committed together. */
export interface Chunk {
  readonly runId: string
  readonly exportName: string
  readonly outputFormat: OutputFormat
  /** The last key of the previous chunk, or 0: the same in every try, for the chunk's names. */
  readonly after: number
  /** Never empty. */
  readonly records: readonly OutgoingRecord[]
  /** The keys of all records of the chunk, in order, including those that must not be sent; the same in every try. */
  readonly keys: readonly number[]
  /** Writes the same records to a file, for destinations that accept files. */
  writeFile(): Promise<ChunkFile>
  /** The state that an earlier, unfinished try of this chunk passed to `saveState`; otherwise null. */
  readonly state: unknown
  saveState(state: unknown): Promise<void>
  readonly signal: AbortSignal
}

export type Outcome =
  | { readonly exported: true; readonly remoteId?: string | undefined }
  | { readonly exported: false; readonly failureClass: FailureClass; readonly reason: string }

/** A run whose records all have an outcome. */
export interface EndedRun {
  readonly runId: string
  readonly exportName: string
  readonly outputFormat: OutputFormat
  readonly recordsExported: number
}

/** A sent person who must be removed: the hem, and the destination's id of the person. */
interface Recipient {
  readonly hem: string
  readonly remoteId: string | null
}

/** An open destination with its settings, secrets and limits. All methods throw DestinationError. */
export interface Destination {
  /** Checks that the destination accepts our credentials and a format; returns the result in words. */
  check(outputFormat?: OutputFormat): Promise<string>
  /** Reads its fields; null if it accepts any field. */
  fields(): Promise<readonly DestinationField[] | null>
  /** Sends a chunk, possibly again, and returns the outcome of each record in order. */
  send(chunk: Chunk): Promise<readonly Outcome[]>
  /** Ends a run after all records were sent, for example with a manifest. Repeated after a crash. */
  finish?(run: EndedRun): Promise<void>
  /** Stores a file under a name, again with the same content after a crash. */
  putFile?(file: NamedFile): Promise<void>
  remove?(recipients: readonly Recipient[]): Promise<void>
}

export interface DestinationContext<Settings = unknown, Secrets = unknown> {
  readonly integrationId: string
  readonly settings: Settings
  readonly secrets: Secrets
  readonly outbound: Outbound
  /**
   * Makes a request that may contain records, for clients with their own requests; `isUnsent` recognizes
   * errors of requests that were not sent.
   */
  sending<T>(send: () => Promise<T>, isUnsent: (error: unknown) => boolean): Promise<T>
  /** Resolves when the integration may make one more request. Throws DestinationError if the wait is long. */
  takeToken(): Promise<void>
  /** Milliseconds since 1970. */
  now(): number
}

/** A type of destination: its settings, and the function that opens it. */
export interface DestinationType<
  Settings extends TObject = TObject,
  Secrets extends TObject = TObject,
> {
  readonly settings: Settings
  readonly secrets: Secrets
  readonly formats: readonly OutputFormat[]
  chunkRecords(outputFormat: OutputFormat): number
  /** Records of a chunk when a budget or a limit refuses a larger one. Absent: a chunk is charged in full or not at all. */
  readonly leastRecords?: number
  /** Returns the received keys of a chunk, from the state that a try saved before it failed. */
  receivedKeys?(state: unknown, keys: readonly number[]): ReadonlySet<number>
  /** Default mapping: field of the destination → field of Footfall. */
  defaultMapping?(settings: Static<Settings>): Readonly<Record<string, string>>
  /** Settings, optional by their schema, that an output format needs. */
  requiredSettings?(outputFormat: OutputFormat): readonly string[]
  requiredFields?(settings: Static<Settings>): readonly string[]
  /** The field by which the destination distinguishes records: of two with the same value, one is sent. */
  identityField?(settings: Static<Settings>): string
  /** The form of the hashes of addresses, if they are not hems. */
  readonly hashes?: 'uid2'
  readonly rate: { readonly perSecond: number; readonly burst: number }
  /** Whether chunks are files (`writeFile`), so that records have no values. */
  readonly takesFiles?: boolean
  readonly removes: boolean
  open(context: DestinationContext<Static<Settings>, Static<Secrets>>): Destination
}

export const exportedAll = (records: readonly OutgoingRecord[]): Outcome[] =>
  records.map(() => ({ exported: true }))

export const failed = (failureClass: FailureClass, reason: string): Outcome => ({
  exported: false,
  failureClass,
  reason,
})
