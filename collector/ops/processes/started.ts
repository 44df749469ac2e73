/** The started parts of a process, which are stopped in the reverse order. */
export interface Started {
  /** Adds the stop function of a part that was started. */
  add(stop: () => Promise<void>): void
  /** Stops the last one first, each after the one before it has stopped. */
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

/** Ends the process, in order, at the first signal: a Ctrl-C comes twice when npm runs us, from the terminal and npm. */
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
