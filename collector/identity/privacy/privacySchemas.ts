import { Type } from 'typebox'

export const tags = ['Privacy']

/** The parameters that name a subject (see readSubject). */
export const SubjectParameters = {
  hem: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{64}$',
      description: 'SHA-256, hex, of the trimmed, lower-cased address.',
    }),
  ),
  email: Type.Optional(Type.String({ format: 'email', maxLength: 254 })),
  cookie_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Cookie id of one browser.' }),
  ),
}
export const oneOf = 'Give exactly one of hem, email and cookie_id.'
