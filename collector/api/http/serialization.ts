import createSerializers, { type SerializerFactory } from '@fastify/fast-json-stringify-compiler'
import type { FastifySerializerCompiler } from 'fastify/types/schema.js'

/**
 * For routes whose answers are rows: these are bytes, or objects with nothing to leave out, and a serializer compiled
 * for hundreds of fields would cost every start.
 */
export const plainSerializer: FastifySerializerCompiler<unknown> = () => (data) =>
  JSON.stringify(data)

/**
 * Compiles the serializer of a route's answer when it first answers: all of them at once were nearly half of what a
 * process takes to start, and most processes answer few of the routes.
 */
export const buildSerializer: SerializerFactory = (sharedSchemas, options) => {
  const compile = createSerializers()(sharedSchemas, options)
  return (route) => {
    let serialize: ReturnType<typeof compile> | undefined
    return (answer) => {
      serialize ??= compile(route)
      return serialize(answer)
    }
  }
}
