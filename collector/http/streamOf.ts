import { Readable } from 'node:stream'

type Pieces = AsyncIterable<Buffer | string>

/**
 * A piece is asked for when the one before has gone to the socket, so that it is known which were never handed to it;
 * what comes meanwhile waits on the connection to ClickHouse.
 */
const streaming = { objectMode: false, highWaterMark: 1 }

const sources = new WeakMap<Readable, Pieces>()

/** An answer's body that is sent piece by piece, none asked for before the one before has gone to the socket. */
export function streamOf(pieces: Pieces): Readable {
  const stream = Readable.from(pieces, streaming)
  sources.set(stream, pieces)
  return stream
}

/**
 * What a stream that nobody has read from is made of: whoever sends it in another form asks for its pieces
 * themselves, because a stream reads one ahead.
 */
export const piecesOf = (stream: Readable): Pieces => sources.get(stream) ?? stream
