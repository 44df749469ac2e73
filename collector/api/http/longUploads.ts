import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

const uploading = new WeakSet<Socket>()

/** Longest time that an upload may take. A connection without a byte for a minute is closed before. */
const uploadMsMax = 3_600_000
/** How long what is left of an upload that was answered is read on, so that its client gets to see the answer. */
const lingerMs = 5_000

/** Whether the request of a connection may take longer than others: Node's limit is one for all. */
export const mayTakeLong = (socket: Socket): boolean => uploading.has(socket)

/** Runs `work` while the request of an upload arrives, for which there is an hour instead of half a minute. */
export async function withLongUpload<T>(
  request: FastifyRequest,
  work: () => Promise<T>,
): Promise<T> {
  const { socket } = request.raw
  uploading.add(socket)
  const timer = setTimeout(
    () => request.raw.destroy(new Error('the upload took longer than an hour')),
    uploadMsMax,
  )
  try {
    return await work()
  } finally {
    clearTimeout(timer)
    uploading.delete(socket)
    if (!request.raw.complete)
      setTimeout(() => request.raw.complete || request.raw.destroy(), lingerMs).unref()
  }
}
