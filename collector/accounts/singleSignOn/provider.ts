import { createHmac } from 'node:crypto'
import type { Configuration, CustomFetch } from 'openid-client'
import { invalidParameter } from '../../api/http/errors.ts'
import type { Outbound, OutboundRequest } from '../../platform/outbound/outbound.ts'
import { OutboundError } from '../../platform/outbound/outboundError.ts'

/** Loads the library at the first sign-in through a provider. */
const load = () => import('openid-client')

/** The provider and the credentials of this service as its client. */
export interface Client {
  issuer: string
  clientId: string
  clientSecret: string
}

/** The claims of a provider about a user who signed in there. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string }

const requestMs = 10_000
/** The lifetime of the cached description of a provider. Its keys are fetched again when they change. */
const rememberedMs = 10 * 60_000
const rememberedMax = 1_000

const remembered = new Map<string, { until: number; configuration: Promise<Configuration> }>()

/** Reads the provider's description, cached for ten minutes. Throws 400 "issuer" if there is none. */
export async function discoverProvider(outbound: Outbound, client: Client): Promise<Configuration> {
  const url = readIssuer(client.issuer)
  const key = createHmac('sha256', client.clientSecret)
    .update(JSON.stringify([client.issuer, client.clientId]))
    .digest('base64')
  const known = remembered.get(key)
  if (known && known.until > Date.now()) return known.configuration
  if (remembered.size >= rememberedMax) remembered.clear()
  const configuration = discover(outbound, client, url)
  remembered.set(key, { until: Date.now() + rememberedMs, configuration })
  configuration.catch(() => remembered.delete(key))
  return configuration
}

async function discover(outbound: Outbound, client: Client, url: URL): Promise<Configuration> {
  const openid = await load()
  const { clientId, clientSecret } = client
  const [basic, post] = [
    openid.ClientSecretBasic(clientSecret),
    openid.ClientSecretPost(clientSecret),
  ]
  try {
    return await openid.discovery(
      url,
      clientId,
      {},
      (as, ...rest) => {
        // OpenID Connect Discovery: the default is client_secret_basic.
        const methods = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
        return (methods.includes('client_secret_basic') ? basic : post)(as, ...rest)
      },
      {
        timeout: requestMs / 1000,
        [openid.customFetch]: guardedFetch(outbound),
        execute: [
          // Verify the token's signature in addition to TLS.
          openid.enableNonRepudiationChecks,
          ...(url.protocol === 'http:' ? [openid.allowInsecureRequests] : []),
        ],
      },
    )
  } catch (error) {
    throw invalidParameter('issuer', `does not lead to an OpenID Connect provider: ${said(error)}`)
  }
}

/** An issuer is an https address; http serves on the same machine, where the operator allows it. */
function readIssuer(issuer: string): URL {
  const url = URL.canParse(issuer) ? new URL(issuer) : null
  const isLocal = url !== null && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)))
    throw invalidParameter('issuer', 'must be an https address, such as https://login.example.com')
  return url
}

/** Sends the library's requests through the guard of outbound requests, which follows no redirect. */
const guardedFetch =
  (outbound: Outbound): CustomFetch =>
  async (url, { method, headers, body }) => {
    const answer = await outbound.send({
      method: method as OutboundRequest['method'],
      url,
      headers,
      timeoutMs: requestMs,
      ...(body != null && { body: String(body) }),
    })
    const fields = Object.entries(answer.headers).flatMap(([name, values]) =>
      [values ?? []].flat().map((value): [string, string] => [name, value]),
    )
    const hasBody = ![204, 205, 304].includes(answer.status)
    return new Response(hasBody ? new Uint8Array(answer.body) : null, {
      status: answer.status,
      headers: fields,
    })
  }

/** The error of a provider, without our addresses. */
export function said(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof OutboundError) return cause.message
  return error instanceof Error ? error.message : String(error)
}

/** Derives the state, nonce and PKCE verifier of a sign-in from a secret that only the browser stores. */
const bindingsOf = (browserSecret: string) => {
  const derive = (purpose: string) =>
    createHmac('sha256', browserSecret).update(purpose).digest('base64url')
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') }
}

/** The state that a browser with this secret must come back with. */
export const stateOf = (browserSecret: string): string => bindingsOf(browserSecret).state

/** The address of the provider's sign-in page for one browser. */
export async function signInUrl(
  configuration: Configuration,
  browserSecret: string,
  redirectUri: string,
  wantsGroups: boolean,
): Promise<string> {
  const openid = await load()
  const { state, nonce, verifier } = bindingsOf(browserSecret)
  const offered = configuration.serverMetadata().scopes_supported ?? []
  const groups = wantsGroups && offered.includes('groups') ? ' groups' : ''
  return openid.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: `openid email profile${groups}`,
    state,
    nonce,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).href
}

/**
 * Exchanges the code that a browser came back with, and returns the claims of the ID token. The user info completes them
 * if an address or one of `needed` is missing. The library checks issuer, audience, signature, times, state, nonce and PKCE, and throws.
 */
export async function claimsOf(
  configuration: Configuration,
  browserSecret: string,
  callbackUrl: URL,
  needed: readonly string[],
): Promise<Claims> {
  const openid = await load()
  const { state, nonce, verifier } = bindingsOf(browserSecret)
  const tokens = await openid.authorizationCodeGrant(configuration, callbackUrl, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  })
  const claims = tokens.claims()!
  const isWhole = statesAddress(claims) && needed.every((name) => claims[name] !== undefined)
  if (isWhole || !configuration.serverMetadata().userinfo_endpoint) return claims
  const more = await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)
  const usesToken = statesAddress(claims) || more.email === undefined
  return { ...more, ...claims, ...addressClaims(usesToken ? claims : more) }
}

/** Whether a source has an address and says whether it is verified. */
const statesAddress = ({ email, email_verified, xms_edov }: Record<string, unknown>): boolean =>
  email !== undefined && (email_verified ?? xms_edov) !== undefined

/** The address claims of one source: "verified" in one source says nothing about another. */
const addressClaims = ({ email, email_verified, xms_edov }: Record<string, unknown>) => ({
  email,
  email_verified,
  xms_edov,
})
