import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { replacePipe } from '../../platform/nodeInternals/replacePipe.ts'

/** A signal that aborts when the response is complete or the connection is closed. */
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

type Pieces = AsyncIterable<Buffer | string>

/** Reads at most one piece ahead without a pipe. Further rows wait in the connection to ClickHouse. */
const streaming = { objectMode: false, highWaterMark: 1 }

const sources = new WeakMap<Readable, Pieces>()

/**
 * A response body that is sent piece by piece. It requests a piece only after the previous one is in the
 * socket, so that the source can reuse its memory.
 */
export function streamOf(pieces: Pieces): Readable {
  const iterator = pieces[Symbol.asyncIterator]()
  const stream = Readable.from({ [Symbol.asyncIterator]: () => iterator }, streaming)
  replacePipe(stream, (destination) => void send(stream, iterator, destination))
  sources.set(stream, pieces)
  return stream
}

async function send(
  stream: Readable,
  iterator: AsyncIterator<Buffer | string>,
  destination: NodeJS.WritableStream,
): Promise<void> {
  try {
    for (;;) {
      const { value, done } = await iterator.next()
      if (done) break
      const failure = await new Promise<unknown>((resolve) => destination.write(value, resolve))
      // The client has disconnected; the owner of the stream receives the event and closes it.
      if (failure) return
    }
    stream.resume()
  } catch (error) {
    stream.destroy(error as Error)
  }
}

/** Returns the pieces of an unread stream, for a sender that encodes them one after another. */
export const piecesOf = (stream: Readable): Pieces => sources.get(stream) ?? stream
