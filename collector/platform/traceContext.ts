import { AsyncLocalStorage } from 'node:async_hooks'

/** `traceparent` of version 00 (https://www.w3.org/TR/trace-context/#traceparent-header). */
const traceparentForm = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

const traceparents = new AsyncLocalStorage<string>()

/** Runs the rest of a request as part of the caller's trace. An invalid header starts no trace, as the standard says. */
export function inTrace(traceparent: string | undefined, run: () => void): void {
  if (traceparent !== undefined && traceparentForm.test(traceparent))
    traceparents.run(traceparent, run)
  else run()
}

/** Returns the header that makes a query of a store part of the caller's trace; none without a trace. */
export function traceHeaders(): { traceparent?: string } {
  const traceparent = traceparents.getStore()
  return traceparent === undefined ? {} : { traceparent }
}
