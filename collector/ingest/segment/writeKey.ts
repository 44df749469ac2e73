import { isUuid } from '../../../schemas/uuid.ts'
import { unauthorized } from '../../api/http/errors.ts'

/** The parts of a write key: the pixel, and for back ends an API key with its secret. */
export interface WriteKey {
  pixelId: string
  apiKey?: string | undefined
  apiSecret?: string | undefined
}

/** Returns the text of the write key in basic authentication; empty without one. */
export function writeKeyInHeader(authorization: string | undefined): string {
  const basic = /^Basic ([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? '')?.[1]
  return basic === undefined ? '' : Buffer.from(basic, 'base64').toString().replace(/:$/, '')
}

/** Reads a write key: the id of a pixel, or `PIXEL_ID:API_KEY:API_SECRET`. Throws 401 "Invalid API key". */
export function readWriteKey(text: unknown): WriteKey {
  const [pixelId, apiKey, apiSecret] = (typeof text === 'string' ? text : '').split(':')
  if (!isUuid(pixelId))
    throw unauthorized.key(
      'The write key must be the id of a pixel, or PIXEL_ID:API_KEY:API_SECRET. Send it as the user name of basic authentication or as writeKey in the body.',
    )
  return { pixelId: pixelId.toLowerCase(), apiKey, apiSecret }
}
