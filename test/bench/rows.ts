/** How to measure; the same for every row. */
export interface Bench {
  /** Interleaved repeats, of which the median counts. */
  repeats: number
  /** Of each load. */
  seconds: number
  connections: number
  /** How much data to read from, where that can be chosen. */
  sizes: { events: number; cookies: number; profiles: number }
  /** Where row identity keeps its data, and how many events that has; a tenth of them are cookies, a twentieth profiles. */
  identity: { directory: string; events: number }
  /** How many signals row intent has. */
  signals: number
  /** How many events row growth has, one number after the other. */
  growth: number[]
  /** How many events row peers has. */
  peers: number
  /** How often each way of leaving a page is tried. */
  departures: number
  /** Number of busy processes during row delivery, so that its browsers wait for the cores. */
  busyLoops: number
  /** Files of further scripts for comparison in row pixel, by name: those that npm does not have. */
  beside: Record<string, string>
  log: (line: string) => void
}

/** A line of the table. */
export interface Row {
  what: string
  value: string
  target: string
  /** The figures that the value was computed from. */
  detail: string
}
