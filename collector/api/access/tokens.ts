import type { Postgres } from '../../platform/postgres/pool.ts'
import { serviceSecret } from './serviceSecret.ts'

/** Signs and reads the tokens of POST /auth/v1/login (spec: Authentication 6). */
export interface Tokens {
  /** A token that says who the member is; good for `tokenSeconds`. */
  sign(memberId: string): Promise<string>
  /** Returns the claims of a token, or null for a forged, expired or foreign one. */
  verify(token: string): Promise<TokenClaims | null>
}

export interface TokenClaims {
  memberId: string
  /** When it was made, seconds since 1970. */
  issuedAt: number
}

export const tokenSeconds = 3600
const algorithm = 'HS256'
const issuer = 'footfall'

/** Loads the library at the first token: the primary, and most workers, never see one. */
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
