import { createHmac, timingSafeEqual } from 'node:crypto'

/** How long a code is the current one (RFC 6238, 4.1: the X of the RFC is 30 by default). */
const stepSeconds = 30
/** A code of the step before or after is good too: clocks differ, and typing takes time (RFC 6238, 5.2). */
const stepsAround = 1

/** The time step that an instant, epoch milliseconds, belongs to. */
export const stepAt = (nowMs: number): number => Math.floor(nowMs / 1000 / stepSeconds)

/** The six digits of a step: HOTP with SHA-1, which all authenticator apps have (RFC 4226, 5.3). */
export function codeOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', secret).update(counter).digest()
  const offset = digest.at(-1)! & 0xf
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1e6).padStart(6, '0')
}

/**
 * The step that six digits are the code of, of those around now; null for none. All are looked at, so the time taken
 * does not tell which it was.
 */
export function stepOfCode(secret: Buffer, code: string, nowMs: number): number | null {
  let found: number | null = null
  for (let step = stepAt(nowMs) - stepsAround; step <= stepAt(nowMs) + stepsAround; step++) {
    if (timingSafeEqual(Buffer.from(codeOf(secret, step)), Buffer.from(code))) found = step
  }
  return found
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Base 32 without padding (RFC 4648, 6), as authenticator apps take secrets. */
export function base32(bytes: Buffer): string {
  let text = ''
  let [bits, value] = [0, 0]
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(value >> (bits - 5)) & 31]
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text
}

/** What a QR code holds for authenticator apps (Google's Key Uri Format). */
export function otpauthUri(secret: Buffer, email: string): string {
  const issuer = 'Footfall'
  const label = `${issuer}:${encodeURIComponent(email)}`
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${issuer}&algorithm=SHA1&digits=6&period=${stepSeconds}`
}
