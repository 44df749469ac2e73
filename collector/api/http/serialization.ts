import createSerializers, { type SerializerFactory } from '@fastify/fast-json-stringify-compiler'
import type { FastifySerializerCompiler } from 'fastify/types/schema.js'

/** For rows, which are bytes or complete objects: a serializer of hundreds of fields is slow to compile. */
export const plainSerializer: FastifySerializerCompiler<unknown> = () => (data) =>
  JSON.stringify(data)

/**
 * Compiles the serializer of a route at its first response. Compiling all of them took nearly half of the
 * start of a process, and most processes serve few routes.
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
