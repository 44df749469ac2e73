import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** A provider that signs whatever a test wants, also what no honest provider signs. */
export interface TokenIssuer {
  issuer: string
  /** A code for which the token endpoint gives an ID token with these claims. */
  codeFor(
    claims: Record<string, unknown>,
    how?: { otherKey?: boolean; raw?: string; userInfo?: Record<string, unknown> },
  ): string
  /** The requests to the token endpoint: their form and the Authorization header. */
  readonly exchanges: { form: URLSearchParams; authorization: string | undefined }[]
  close(): Promise<void>
}

/** Opens a provider, with these members in its description. */
export async function openTokenIssuer(described: object = {}): Promise<TokenIssuer> {
  const [own, other] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256', use: 'sig' }
  const tokens = new Map<string, () => Promise<string>>()
  const userInfos = new Map<string, Record<string, unknown>>()
  const exchanges: TokenIssuer['exchanges'] = []
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (request.url === '/.well-known/openid-configuration') {
      return answer(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        userinfo_endpoint: `${issuer}/userinfo`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...described,
      })
    }
    if (request.url === '/keys') return answer(200, { keys: [jwk] })
    if (request.url === '/userinfo') {
      const code = (request.headers.authorization ?? '').replace('Bearer ', '')
      return answer(200, userInfos.get(code) ?? {})
    }
    if (request.url !== '/token') return answer(404, {})
    let body = ''
    for await (const chunk of request) body += chunk
    const form = new URLSearchParams(body)
    exchanges.push({ form, authorization: request.headers.authorization })
    const code = form.get('code')!
    const token = tokens.get(code)
    if (!token) return answer(400, { error: 'invalid_grant' })
    answer(200, { access_token: code, token_type: 'Bearer', id_token: await token() })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    exchanges,
    codeFor(claims, { otherKey = false, raw, userInfo = {} } = {}) {
      const code = randomUUID()
      userInfos.set(code, { sub: claims.sub, ...userInfo })
      tokens.set(
        code,
        async () =>
          raw ??
          new SignJWT({ iss: issuer, ...claims })
            .setProtectedHeader({ alg: 'RS256', kid: 'own' })
            .sign((otherKey ? other : own).privateKey),
      )
      return code
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
