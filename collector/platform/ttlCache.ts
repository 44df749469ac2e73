/** Lifetime of a cached answer of PostgreSQL: a revoked right ends everywhere within this time. */
const rememberMs = 1_000
const rememberedMax = 10_000

/**
 * Caches answers for a second, so that a busy caller's requests do not each query PostgreSQL. Errors, and
 * answers that are not worth it, are not cached.
 */
export function ttlCache<T>(
  ask: (key: string) => Promise<T>,
  isWorthIt: (answer: T) => boolean = () => true,
): (key: string) => Promise<T> {
  const answers = new Map<string, { askedAt: number; answer: Promise<T> }>()
  return (key) => {
    const known = answers.get(key)
    if (known && Date.now() - known.askedAt < rememberMs) return known.answer
    if (answers.size >= rememberedMax) answers.clear()
    const answer = ask(key)
    answers.set(key, { askedAt: Date.now(), answer })
    const forget = () => answers.delete(key)
    answer.then((known) => isWorthIt(known) || forget(), forget)
    return answer
  }
}
