import type { FastifyReply } from 'fastify'

/** Aborts when the answer is complete, or its connection closed before: what is still being read is let go of. */
export function untilClosed(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}
