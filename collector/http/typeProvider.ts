import type { FastifyTypeProvider } from 'fastify'
import type { Static, TSchema } from 'typebox'

/** Types of a route's parameters, body and answers from its TypeBox schemas: `app.withTypeProvider<TypeBox>()`. */
export interface TypeBox extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  readonly serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown
}
