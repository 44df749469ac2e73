/** What `footfall-client` offers. Types of routes are in api.d.ts, which `npm run build` generates. */
import type { Operations } from './api.d.ts'

export type * from './api.d.ts'

export interface ClientOptions {
  /** Where the service is, as `https://collector.example`. Default: where the page is from. */
  baseUrl?: string
  /** An API key, with its secret. */
  key?: string
  secret?: string
  /** Token to send as `Authorization: Bearer`, instead of a key. */
  token?: string
  /** Further headers of every request. A function is called for each request. */
  headers?: Record<string, string> | (() => Record<string, string>)
  /** Most times that one call is tried; default 5. */
  maxTries?: number
  /** Longest wait before the next try; where the service asks for more, the error is thrown at once. Default 30,000. */
  maxWaitMs?: number
  /** How long one try may take until its answer is read; default 60,000. */
  timeoutMs?: number
  /** What asks instead of the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

export interface CallOptions {
  /** Ends the call, its waits too; the call then throws the signal's reason. */
  signal?: AbortSignal
  /** Further headers; `accept` chooses what `raw` brings. */
  headers?: Record<string, string>
  /** Of a charged call: instead of a random one that all its tries share. A call with the same is not charged again. */
  idempotencyKey?: string
}

/** The error that a call throws, unless its signal was aborted. */
export interface ApiError extends Error {
  readonly name: 'ApiError'
  /** The HTTP status; 0 without a complete answer. */
  readonly status: number
  /** For programs: the answer's `error`; of status 0 `unreachable` or `timeout`. */
  readonly code: string
  /** What else the answer says: `request_id`, `parameter`, `kind`, `resets_at` … */
  readonly details: Readonly<Record<string, unknown>>
  /** After how many seconds the service wants to be asked again; null when it does not say. */
  readonly retryAfterSeconds: number | null
}
export declare const ApiError: new (
  status: number,
  code: string,
  message: string,
  more?: { details?: Record<string, unknown>; retryAfterSeconds?: number | null; cause?: unknown },
) => ApiError

/** Names of operations: `operationId` in /openapi.json. */
export type OperationId = keyof Operations

/** All parameters of an operation in one object: those of its path, its query and its body. */
export type Params<Id extends OperationId> = OrUndefined<Operations[Id]['params']>

/** What an operation answers: its JSON, nothing for 204, and the `Response` itself where it is anything else. */
export type Answer<Id extends OperationId> = Operations[Id]['answer']

/** One call. Throws `ApiError`. */
export interface Method<P, A> {
  (...args: Args<P>): Promise<A>
  /** The answer as it is, to be read by the caller: as a stream, or as CSV. */
  raw(...args: Args<P>): Promise<Response>
}

/** A call of a list that comes in pages. */
export interface PagedMethod<P, A> extends Method<P, A> {
  /** All pages, starting with the requested one. Each is loaded on demand. */
  pages(...args: Args<P>): AsyncGenerator<A, void, undefined>
  /** All items of all pages. */
  all(...args: Args<P>): AsyncGenerator<ItemOf<A>, void, undefined>
}

export type Client = {
  readonly [Id in OperationId]: 'cursor' extends keyof Params<Id>
    ? PagedMethod<Params<Id>, Answer<Id>>
    : Method<Params<Id>, Answer<Id>>
}

/** A client of the service: one method for each of its operations. */
export declare function createClient(options?: ClientOptions): Client

/**
 * Returns the request of a call, for code samples and clients in other languages. Throws TypeError if the
 * path lacks a parameter.
 */
export declare function requestFor(
  operation: OperationId,
  params: Readonly<Record<string, unknown>>,
): { method: string; path: string; body?: unknown; isCharged: boolean }

type Args<P> =
  Record<never, never> extends P
    ? [params?: P, options?: CallOptions]
    : [params: P, options?: CallOptions]
/** What may be left out may be undefined as well. */
type OrUndefined<T> = {
  [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K]
}
type ItemOf<Page> = {
  [K in keyof Page]-?: Page[K] extends readonly (infer Item)[] ? Item : never
}[keyof Page]
