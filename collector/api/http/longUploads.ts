import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

const uploading = new WeakSet<Socket>()

/** Time limit of an upload. Node closes a connection earlier if no byte arrives for a minute. */
const uploadMsMax = 3_600_000
/** How long the rest of an answered upload is read, so that its client receives the response. */
const lingerMs = 5_000

/** Whether a connection has an upload, which may exceed Node's common time limit for requests. */
export const mayTakeLong = (socket: Socket): boolean => uploading.has(socket)

/** Runs `work` while an upload arrives, with a limit of an hour instead of half a minute. */
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
