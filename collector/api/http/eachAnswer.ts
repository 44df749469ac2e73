import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Calls back after each response, or when its client disconnected, for which Fastify has no hook. */
export function onEachAnswer(
  app: FastifyInstance,
  note: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  const noted = new WeakSet<FastifyRequest>()
  const noteOnce = (request: FastifyRequest, reply: FastifyReply) => {
    if (noted.has(request)) return
    noted.add(request)
    note(request, reply)
  }
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => noteOnce(request, reply))
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    noteOnce(request, reply)
    done()
  })
}
