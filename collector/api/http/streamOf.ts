import { Readable } from 'node:stream'

type Pieces = AsyncIterable<Buffer | string>

/** Of who does not pipe: no more than a piece is read ahead. What comes meanwhile waits on the connection to ClickHouse. */
const streaming = { objectMode: false, highWaterMark: 1 }

const sources = new WeakMap<Readable, Pieces>()

/**
 * An answer's body that is sent piece by piece, none asked for before the one before has gone to the socket: so a
 * piece may lie in memory that its source takes back then.
 */
export function streamOf(pieces: Pieces): Readable {
  const iterator = pieces[Symbol.asyncIterator]()
  const stream = Readable.from({ [Symbol.asyncIterator]: () => iterator }, streaming)
  // A stream reads one ahead, and pipes what it read.
  stream.pipe = (destination, { end = true } = {}) => {
    if (end) stream.once('end', () => destination.end())
    void send(stream, iterator, destination)
    return destination
  }
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
      // Nobody is there any more: whoever has opened the stream hears of that, and closes it.
      if (failure) return
    }
    stream.resume()
  } catch (error) {
    stream.destroy(error as Error)
  }
}

/**
 * What a stream that nobody has read from is made of: whoever sends it in another form asks for its pieces
 * themselves, one when it is done with the one before.
 */
export const piecesOf = (stream: Readable): Pieces => sources.get(stream) ?? stream
