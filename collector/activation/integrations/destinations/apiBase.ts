import { Type } from 'typebox'

/** Schema of the setting with the address of a destination's API; `usual` is the default. */
export const apiBase = (usual: string) =>
  Type.Optional(
    Type.String({
      maxLength: 500,
      pattern: '^https?://[^?#]+[^/?#]$',
      description: `Another server with this API, without a trailing slash; default ${usual}.`,
    }),
  )
