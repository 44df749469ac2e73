import type { FastifyReply } from 'fastify'

/**
 * Returns a signal that aborts when the response is complete or the connection is closed, even before this
 * call.
 */
export function untilClosed(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  if (reply.raw.destroyed) controller.abort()
  else reply.raw.once('close', () => controller.abort())
  return controller.signal
}

/** Returns the pieces that were already read, then all others. */
export async function* startingWith<Piece>(
  first: Piece,
  others: AsyncIterator<Piece>,
): AsyncGenerator<Piece> {
  yield first
  yield* { [Symbol.asyncIterator]: () => others }
}

/** Returns the same pieces, but requests the first one at once. The reader receives its error. */
export function underWay<Piece>(pieces: AsyncIterable<Piece>): AsyncIterable<Piece> {
  const iterator = pieces[Symbol.asyncIterator]()
  const first = iterator.next()
  first.catch(() => {})
  return readOn()

  async function* readOn() {
    const { value, done } = await first
    if (!done) yield* startingWith(value, iterator)
  }
}
