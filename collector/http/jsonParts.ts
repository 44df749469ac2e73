/** A JSON value and all that is in it, however deep: strangers' bodies may be deeper than a stack. */
export function* partsOf(value: unknown): Generator<unknown> {
  const waiting = [value]
  while (waiting.length > 0) {
    const part = waiting.pop()
    yield part
    if (typeof part === 'object' && part !== null)
      for (const member of Object.values(part)) waiting.push(member)
  }
}
