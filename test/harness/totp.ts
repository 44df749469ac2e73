import { HOTP, Secret } from 'otpauth'

/** The six digits of a time step, as an authenticator app shows them. */
export const codeOf = (secret: Buffer, step: number): string =>
  HOTP.generate({
    secret: new Secret({ buffer: Uint8Array.from(secret).buffer }),
    algorithm: 'SHA1',
    digits: 6,
    counter: step,
  })
