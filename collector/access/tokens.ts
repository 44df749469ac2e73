import { randomBytes } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import type { Postgres } from '../postgres/pool.ts'

/** Signs and reads the tokens of POST /auth/v1/login (spec: Legacy methods). */
export interface Tokens {
  /** A token that says who the member is; good for `tokenSeconds`. */
  sign(memberId: string): Promise<string>
  /** What a token says; null for one that is forged, expired or not ours. */
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

/** The signing key is made up once and kept in PostgreSQL, where every process finds it. */
export function createTokens(postgres: Postgres): Tokens {
  let key: Promise<Buffer> | null = null
  const signingKey = () => {
    key ??= readSigningKey(postgres)
    key.catch(() => (key = null))
    return key
  }
  return {
    sign: async (memberId) =>
      new SignJWT()
        .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
        .setIssuer(issuer)
        .setSubject(memberId)
        .setIssuedAt()
        .setExpirationTime(`${tokenSeconds}s`)
        .sign(await signingKey()),
    verify: async (token) => {
      const secret = await signingKey()
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

async function readSigningKey(postgres: Postgres): Promise<Buffer> {
  await postgres.query(
    `INSERT INTO service_secrets (name, value) VALUES ('token_key', $1) ON CONFLICT DO NOTHING`,
    [randomBytes(32)],
  )
  const { rows } = await postgres.query<{ value: Buffer }>(
    `SELECT value FROM service_secrets WHERE name = 'token_key'`,
  )
  return rows[0]!.value
}
