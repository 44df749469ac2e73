import { hasConsent } from './consent.ts'
import { schedule } from './send.ts'

/** Who this browser belongs to, until the collector has been told. */
let known: string | undefined

export const hem = (): string | undefined => (hasConsent() ? known : undefined)

export const hemSent = (sent: string | undefined): void => {
  if (sent === known) known = undefined
}

/** An address never leaves the page: its SHA-256 does. */
export const identify = (person: { email?: string; hem?: string }): void => {
  if (!person.email) keep(`${person.hem}`)
  else if (crypto.subtle) {
    crypto.subtle
      .digest('SHA-256', new TextEncoder().encode(person.email.trim().toLowerCase()))
      .then((hash) =>
        keep([...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('')),
      )
  } else console.warn('footfall: identify({ email }) needs https')
}

const keep = (value: string) => {
  if (!/^[\da-f]{64}$/i.test(value)) return
  known = value.toLowerCase()
  schedule()
}
