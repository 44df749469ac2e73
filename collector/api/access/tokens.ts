import type { Postgres } from '../../platform/postgres/pool.ts'
import { serviceSecret } from './serviceSecret.ts'

/** Signs and reads the tokens of POST /auth/v1/login (spec: Authentication 6). */
export interface Tokens {
  /** Signs a token that identifies the member and is valid for `tokenSeconds`. */
  sign(memberId: string): Promise<string>
  /** Returns the claims of a token; null for a forged, expired or foreign token. */
  verify(token: string): Promise<TokenClaims | null>
}

interface TokenClaims {
  memberId: string
  /** When the token was issued, seconds since 1970. */
  issuedAt: number
}

export const tokenSeconds = 3600
const algorithm = 'HS256'
const issuer = 'footfall'

/** Loaded with the first token: the primary and most workers never need it. */
const loadJose = () => import('jose')

export function createTokens(postgres: Postgres): Tokens {
  const signingKey = () => serviceSecret(postgres, 'token_key')
  return {
    async sign(memberId) {
      const { SignJWT } = await loadJose()
      return new SignJWT()
        .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
        .setIssuer(issuer)
        .setSubject(memberId)
        .setIssuedAt()
        .setExpirationTime(`${tokenSeconds}s`)
        .sign(await signingKey())
    },
    async verify(token) {
      const secret = await signingKey()
      const { jwtVerify } = await loadJose()
      try {
        const { payload } = await jwtVerify(token, secret, { algorithms: [algorithm], issuer })
        const { sub, iat } = payload
        return sub === undefined || iat === undefined ? null : { memberId: sub, issuedAt: iat }
      } catch {
        return null
      }
    },
  }
}
