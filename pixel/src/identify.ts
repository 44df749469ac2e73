import { level } from './consent.ts'
import { schedule } from './send.ts'

/** Who this browser belongs to, until the collector has been told. */
let known: string | undefined

export const hem = (): string | undefined => (level > 2 ? known : undefined)

export const hemSent = (sent: string | undefined): void => {
  if (sent === known) known = undefined
}

/** An address never leaves the page: its SHA-256 does. Needs https, as crypto.subtle does. */
export const identify = ({ email, hem }: { email?: string; hem?: string }): unknown =>
  email
    ? crypto.subtle
        .digest('SHA-256', new TextEncoder().encode(email.trim().toLowerCase()))
        .then((hash) =>
          keep([...new Uint8Array(hash)].map((byte) => (byte + 256).toString(16).slice(1)).join('')),
        )
    : keep(`${hem}`.toLowerCase())

const keep = (value: string) => {
  if (!/^[\da-f]{64}$/.test(value)) return
  known = value
  schedule()
}
