import { Secret, TOTP } from 'otpauth'

const issuer = 'Footfall'
/** The settings that all authenticator apps support: RFC 6238 with SHA-1, six digits, 30 seconds. */
const algorithm = 'SHA1'
const digits = 6
const period = 30
/** Codes of the adjacent steps are also valid, because clocks differ and typing takes time (RFC 6238, 5.2). */
const window = 1

const secretOf = (bytes: Buffer): Secret => new Secret({ buffer: Uint8Array.from(bytes).buffer })

/** The time step that an instant, epoch milliseconds, belongs to. */
export const stepAt = (nowMs: number): number => TOTP.counter({ period, timestamp: nowMs })

/** Returns the time step, among the current ones, that has this code; null for none. */
export function stepOfCode(secret: Buffer, code: string, nowMs: number): number | null {
  const apart = TOTP.validate({
    token: code,
    secret: secretOf(secret),
    algorithm,
    digits,
    period,
    timestamp: nowMs,
    window,
  })
  return apart === null ? null : stepAt(nowMs) + apart
}

/** Base 32 without padding (RFC 4648, 6), as authenticator apps take secrets. */
export const base32 = (bytes: Buffer): string => secretOf(bytes).base32

/** Content of the QR code for authenticator apps (Google's Key Uri Format). */
export function otpauthUri(secret: Buffer, email: string): string {
  const label = `${issuer}:${encodeURIComponent(email)}`
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${issuer}&algorithm=${algorithm}&digits=${digits}&period=${period}`
}
