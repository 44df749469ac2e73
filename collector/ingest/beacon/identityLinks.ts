import { createHmac, timingSafeEqual } from 'node:crypto'
import type { BeaconContext } from '../normalize/eventRow.ts'
import type { Person } from '../normalize/normalize.ts'
import type { Fault } from '../normalize/validateEvent.ts'
import type { IdentifyLimit } from './ingestLimits.ts'
import type { Pixel } from './pixelRegistry.ts'

/** Confidence of a link, by its source: addresses in forms have errors, and may belong to another person. */
const confidenceOf = { signed: 1, identify: 1, form: 0.9 }

/**
 * Returns a line for the `identity_links` table; its source is "signed" if the site's server signed the
 * identity. Otherwise returns the reason of the rejection. It is a wrong signature, a missing one that the
 * pixel requires, or too many unsigned identities from one network.
 */
export async function linkRow(
  { hem, source, signature }: Person,
  { identifySecrets, settings }: Pixel,
  context: BeaconContext,
  isWithinLimit: () => ReturnType<IdentifyLimit>,
): Promise<string | Fault> {
  if (signature !== undefined && isSignature(signature, hem, identifySecrets))
    return rowOf(hem, 'signed', context)
  if (signature !== undefined) return { path: '/hem_signature', message: wrongSignature }
  if (settings.require_signed_identify) return { path: '/hem_signature', message: missingSignature }
  if (!(await isWithinLimit()))
    return {
      path: '/hem',
      message: 'must wait: this network sent too many unsigned identify calls',
    }
  return rowOf(hem, source, context)
}

const wrongSignature =
  'must be the HMAC-SHA256 of the hem with the identify secret of this pixel, in hex'
const missingSignature = 'is required: this pixel accepts only signed identify calls'

/** Whether any of a pixel's secrets made this signature; it is compared in constant time. */
function isSignature(signature: unknown, hem: string, secrets: readonly string[]): boolean {
  if (typeof signature !== 'string' || !/^[\da-f]{64}$/i.test(signature)) return false
  const signatureBytes = Buffer.from(signature, 'hex')
  return secrets.some((secret) =>
    timingSafeEqual(signatureBytes, createHmac('sha256', secret).update(hem).digest()),
  )
}

const rowOf = (hem: string, source: keyof typeof confidenceOf, context: BeaconContext): string =>
  JSON.stringify({
    organization_id: context.organizationId,
    cookie_id: context.cookieId,
    hem,
    source,
    confidence: confidenceOf[source],
    pixel_id: context.pixelId,
    observed_at: new Date(context.receivedMillis).toISOString(),
  })
