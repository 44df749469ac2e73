/**
 * Runs a chore now and again `everyMs` after each time it ended, until it is stopped. What it throws is told to
 * `failed` and changes nothing.
 */
export function runEvery(
  everyMs: number,
  run: () => Promise<void>,
  failed: (error: Error) => void,
): { stop(): Promise<void> } {
  let timer: NodeJS.Timeout
  let stopped = false
  const once = async (): Promise<void> => {
    await run().catch(failed)
    if (!stopped) timer = setTimeout(next, everyMs)
  }
  let running = Promise.resolve()
  const next = () => {
    running = once()
  }
  next()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
