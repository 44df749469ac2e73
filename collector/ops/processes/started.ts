/** The started parts of a process, which stop in the reverse order. */
export interface Started {
  add(stop: () => Promise<void>): void
  /** Stops all parts, the last one first, each after the previous one has stopped. */
  stop(): Promise<void>
}

export function createStarted(): Started {
  const stops: (() => Promise<void>)[] = []
  return {
    add: (stop) => void stops.push(stop),
    async stop() {
      for (let stop = stops.pop(); stop; stop = stops.pop()) await stop()
    },
  }
}

/**
 * Ends the process, in order, at the first signal. A Ctrl-C arrives twice if npm runs the process: from the
 * terminal and from npm.
 */
export function endOnSignal(end: () => Promise<void>): void {
  let isEnding = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (isEnding) return
      isEnding = true
      void end().then(() => process.exit(0))
    })
  }
}
