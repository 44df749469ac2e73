/**
 * Returns a function that shares one call among all callers that ask the same of the same owner while it runs. A caller
 * after its end starts another call, so no answer is older than the time that a call takes. The call must not end with
 * its first caller.
 */
export function sharedCalls<Owner extends object, Asked, Answer>(
  call: (owner: Owner, asked: Asked) => Promise<Answer>,
  keyOf: (asked: Asked) => string,
): (owner: Owner, asked: Asked) => Promise<Answer> {
  const runningBy = new WeakMap<Owner, Map<string, Promise<Answer>>>()
  return (owner, asked) => {
    const running = runningBy.get(owner) ?? new Map<string, Promise<Answer>>()
    runningBy.set(owner, running)
    const key = keyOf(asked)
    const known = running.get(key)
    if (known) return known
    const answer = call(owner, asked).finally(() => running.delete(key))
    running.set(key, answer)
    return answer
  }
}
