import { Type } from 'typebox'
import { Choice } from './commonSchemas.ts'
import { allErrorCodes } from './errorCodes.ts'
import type { ApiError } from './errors.ts'

/** Common members of a refused item in batch responses; some have further members. */
export const itemErrorMembers = <const C extends string>(codes: readonly C[]) => ({
  index: Type.Integer({ description: 'The position of the item in the request, from 0.' }),
  path: Type.String({
    description: 'JSON pointer to the wrong value in the item. Empty: the item itself.',
  }),
  code: Choice(codes, { description: 'For programs: the cause.' }),
  message: Type.String({ description: 'An explanation for people.' }),
})

export const ItemError = Type.Object(
  {
    error: Type.String(),
    ...itemErrorMembers(allErrorCodes),
    parameter: Type.Optional(Type.String()),
  },
  { title: 'ItemError', description: 'Why the item was refused.' },
)

export function itemErrorOf(index: number, { error, code, message, extra }: ApiError) {
  const { parameter } = extra.body ?? {}
  const path = typeof parameter === 'string' && parameter !== 'items' ? `/${step(parameter)}` : ''
  return { error, index, path, code, message, ...extra.body }
}

/** Escapes one segment of a JSON pointer (RFC 6901). */
export const step = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
