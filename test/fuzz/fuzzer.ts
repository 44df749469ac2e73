import type { Service } from '../harness/service.ts'

export interface FuzzOptions {
  service: Service
  /** The same seed sends the same input. */
  seed: number
  /** How many events or requests to send. */
  count: number
  log: (line: string) => void
}

/** Sends random and hostile input to a service. Resolves with its findings, one line each. */
export type Fuzzer = (options: FuzzOptions) => Promise<string[]>

/** Longest that any answer may take. */
export const hangMs = 5_000
