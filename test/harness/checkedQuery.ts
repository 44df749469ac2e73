import type { Static, TSchema } from 'typebox'
import { validatorCompiler } from '../../collector/api/http/validation.ts'

/** A query as a route of this schema gets it. Throws the 400 that it would answer. */
export function checkedQuery<S extends TSchema>(
  schema: S,
  query: Record<string, unknown>,
): Static<S> {
  const check = validatorCompiler({ schema, httpPart: 'querystring', method: 'GET', url: '/' })
  const { value, error } = check(query) as { value?: Static<S>; error?: Error }
  if (error) throw error
  return value!
}
