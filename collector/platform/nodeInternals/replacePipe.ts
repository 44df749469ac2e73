import type { Readable } from 'node:stream'

/**
 * Replaces the pipe of a stream, which reads ahead, by `send`. Fastify sends a body with `pipe`. `send` destroys the
 * stream on failure, and otherwise reads it to its end.
 */
export function replacePipe(
  stream: Readable,
  send: (destination: NodeJS.WritableStream) => void,
): void {
  stream.pipe = (destination, { end = true } = {}) => {
    if (end) stream.once('end', () => destination.end())
    send(destination)
    return destination
  }
}
