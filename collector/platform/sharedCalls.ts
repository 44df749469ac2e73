/** Shares one call among all callers with the same owner and key while it runs. */
export type SharedCalls<Answer> = (
  owner: object,
  key: string,
  call: () => Promise<Answer>,
) => Promise<Answer>

/**
 * Returns a SharedCalls. A caller after the end of a call starts another one, so no answer is older than the time that a
 * call takes. A call must not end with its first caller.
 */
export function sharedCalls<Answer>(): SharedCalls<Answer> {
  const runningBy = new WeakMap<object, Map<string, Promise<Answer>>>()
  return (owner, key, call) => {
    const running = runningBy.get(owner) ?? new Map<string, Promise<Answer>>()
    runningBy.set(owner, running)
    const known = running.get(key)
    if (known) return known
    const answer = call().finally(() => running.delete(key))
    running.set(key, answer)
    return answer
  }
}
