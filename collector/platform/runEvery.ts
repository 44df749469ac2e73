/** Runs a task again `everyMs` after each run ends, also after errors, until it is stopped. */
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
