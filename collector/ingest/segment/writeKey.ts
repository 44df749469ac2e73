import { isUuid } from '../../../schemas/uuid.ts'
import { unauthorized } from '../../api/http/errors.ts'

/** The parts of a write key: the pixel, and for back ends an API key with its secret. */
export interface WriteKey {
  pixelId: string
  apiKey?: string | undefined
  apiSecret?: string | undefined
}

/**
 * Reads the write key from the user name of basic authentication, or else from the body. It is the id of a
 * pixel, or `PIXEL_ID:API_KEY:API_SECRET`. Throws 401 "Invalid API key".
 */
export function readWriteKey(authorization: string | undefined, inBody: unknown): WriteKey {
  const basic = /^Basic ([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? '')?.[1]
  const inHeader = basic === undefined ? '' : Buffer.from(basic, 'base64').toString()
  const text = inHeader.replace(/:$/, '') || (typeof inBody === 'string' ? inBody : '')
  const [pixelId, apiKey, apiSecret] = text.split(':')
  if (!isUuid(pixelId))
    throw unauthorized.key(
      'The write key must be the id of a pixel, or PIXEL_ID:API_KEY:API_SECRET. Send it as the user name of basic authentication or as writeKey in the body.',
    )
  return { pixelId: pixelId.toLowerCase(), apiKey, apiSecret }
}
