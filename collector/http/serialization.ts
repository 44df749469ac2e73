import type { FastifySerializerCompiler } from 'fastify/types/schema.js'

/**
 * For routes whose answers are rows: these are bytes, or objects with nothing to leave out, and a serializer compiled
 * for hundreds of fields would cost every start.
 */
export const plainSerializer: FastifySerializerCompiler<unknown> = () => (data) => JSON.stringify(data)
