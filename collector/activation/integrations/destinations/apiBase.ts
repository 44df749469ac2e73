import { Type } from 'typebox'

/** The setting of a destination that says where its API is, where it is not at its maker's. */
export const apiBase = (usual: string) =>
  Type.Optional(
    Type.String({
      maxLength: 500,
      pattern: '^https?://[^?#]+[^/?#]$',
      description: `Another server with this API, without a trailing slash; default ${usual}.`,
    }),
  )
