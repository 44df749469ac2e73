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

/**
 * The action that makes a failed record or request succeed: another try (`retry`), a fix of the cause in the
 * reason (`mend`), or none (`never`).
 */
export const failureClasses = ['retry', 'mend', 'never'] as const
export type FailureClass = (typeof failureClasses)[number]

/**
 * A destination refused a request. `message` is for the customer. With class `mend` the run stops, and with
 * class `never` this request's records fail. With class `retry` the request is sent again, not before
 * `afterSeconds` if given. The destination requests this delay, so it is not a failure.
 */
export class DestinationError extends Error {
  constructor(
    readonly failureClass: FailureClass,
    message: string,
    readonly afterSeconds: number | null = null,
  ) {
    super(message)
    this.name = 'DestinationError'
  }
}

/** A field that records can be mapped to. */
export interface DestinationField {
  readonly name: string
  readonly label: string
}

/** One record for a destination. */
export interface OutgoingRecord {
  /** Its place in the build. */
  readonly key: number
  /** The hem, or the domain of a company. */
  readonly id: string
  /** Field of the destination → value; never empty or null. */
  readonly values: Readonly<Record<string, unknown>>
}

/** A file with the records of a chunk, on this machine, until the chunk is done. */
export interface ChunkFile {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

/** Some records of a run, sent together and committed together. */
export interface Chunk {
  readonly runId: string
  readonly exportName: string
  readonly outputFormat: OutputFormat
  /**
   * In order, the last key of the previous chunk; 0 for the first. It makes the chunk's names the same in
   * every try.
   */
  readonly after: number
  /** Never empty. */
  readonly records: readonly OutgoingRecord[]
  /** The keys of all records of the chunk, in order, including those that must not be sent; the same in every try. */
  readonly keys: readonly number[]
  /** The same records in a file; for destinations that take files. */
  writeFile(): Promise<ChunkFile>
  /** What `saveState` was given by a try before that did not end, of this chunk; else null. */
  readonly state: unknown
  saveState(state: unknown): Promise<void>
  readonly signal: AbortSignal
}

/** What became of a record. */
export type Outcome =
  | { readonly exported: true; readonly remoteId?: string | undefined }
  | { readonly exported: false; readonly failureClass: FailureClass; readonly reason: string }

/** A run all of whose records have an outcome. */
export interface EndedRun {
  readonly runId: string
  readonly exportName: string
  readonly outputFormat: OutputFormat
  readonly recordsExported: number
}

/** A person who was sent and must be removed: the hem, and the destination's id of the person. */
export interface Recipient {
  readonly hem: string
  readonly remoteId: string | null
}

/** A destination that is open: with its settings, its secrets and its limits. All methods throw DestinationError. */
export interface Destination {
  /** Makes sure that it can be reached, with records of a format, and lets us in; in plain words what was found. */
  check(outputFormat?: OutputFormat): Promise<string>
  /** The fields it has; null where it takes any. */
  fields(): Promise<readonly DestinationField[] | null>
  /** Sends a chunk, which may have been sent before: the outcome of each record, in their order. */
  send(chunk: Chunk): Promise<readonly Outcome[]>
  /** Ends a run whose records have all been sent, such as with a manifest. Done again after a crash. */
  finish?(run: EndedRun): Promise<void>
  /** Takes people out again. */
  remove?(recipients: readonly Recipient[]): Promise<void>
}

export interface DestinationContext<Settings = unknown, Secrets = unknown> {
  readonly integrationId: string
  readonly settings: Settings
  readonly secrets: Secrets
  readonly outbound: Outbound
  /** Makes a request that may bring records, of clients with requests of their own; tells errors of none that has left. */
  sending<T>(send: () => Promise<T>, isUnsent: (error: unknown) => boolean): Promise<T>
  /** Resolves when the integration may make one more request. Throws DestinationError when that takes long. */
  takeToken(): Promise<void>
  /** Milliseconds since 1970. */
  now(): number
}

/** A type of destination: its settings, and how to open it. */
export interface DestinationType<
  Settings extends TObject = TObject,
  Secrets extends TObject = TObject,
> {
  readonly settings: Settings
  readonly secrets: Secrets
  readonly formats: readonly OutputFormat[]
  /** Most records of a chunk. */
  chunkRecords(outputFormat: OutputFormat): number
  /** Records of a chunk when a budget or a limit refuses a larger one. Absent: a chunk is charged in full or not at all. */
  readonly leastRecords?: number
  /** Which of a chunk's keys were received, by the state that a try saved before it failed. */
  receivedKeys?(state: unknown, keys: readonly number[]): ReadonlySet<number>
  /** Default mapping: field of the destination → field of Footfall. */
  defaultMapping?(settings: Static<Settings>): Readonly<Record<string, string>>
  /** Settings, optional by their schema, that an output format needs. */
  requiredSettings?(outputFormat: OutputFormat): readonly string[]
  /** Fields of the destination that every record needs. */
  requiredFields?(settings: Static<Settings>): readonly string[]
  /** By which field the destination tells records apart: of two with the same, one is sent. */
  identityField?(settings: Static<Settings>): string
  /** Requests a second, and most at once. */
  readonly rate: { readonly perSecond: number; readonly burst: number }
  /** Whether chunks are files (`writeFile`): their records come without values. */
  readonly takesFiles?: boolean
  /** Whether people can be removed from it again. */
  readonly removes: boolean
  open(context: DestinationContext<Static<Settings>, Static<Secrets>>): Destination
}

/** All that came of a request whose records share one outcome. */
export const exportedAll = (records: readonly OutgoingRecord[]): Outcome[] =>
  records.map(() => ({ exported: true }))

export const failed = (failureClass: FailureClass, reason: string): Outcome => ({
  exported: false,
  failureClass,
  reason,
})
