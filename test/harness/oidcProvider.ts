import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

/** The claims about each person, by the name that they enter on the sign-in page. */
export type People = Record<string, Record<string, unknown>>

export interface OidcProvider {
  issuer: string
  clientId: string
  clientSecret: string
  close(): Promise<void>
}

/** A real OpenID Connect provider (`oidc-provider`) with a sign-in page that asks for a name only. */
export async function openOidcProvider(redirectUri: string, people: People): Promise<OidcProvider> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [clientId, clientSecret] = ['footfall', 'a secret of the client: 100% + more']
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name'],
      groups: ['groups'],
    },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['a key of the test'] },
    interactions: { url: (_, { uid }) => `/login/${uid}` },
    findAccount: (_, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, ...people[id] }),
    }),
    async loadExistingGrant({ oidc }) {
      const { client, session, params, provider } = oidc
      const grant = new provider.Grant({
        clientId: client!.clientId,
        accountId: session!.accountId!,
      })
      grant.addOIDCScope(String(params!.scope))
      await grant.save()
      return grant
    },
  })
  const answer = provider.callback()
  server.on('request', async (request, response) => {
    if (!request.url!.startsWith('/login/')) return answer(request, response)
    const name = new URL(request.url!, issuer).searchParams.get('name')
    if (name !== null) {
      const result = people[name]
        ? { login: { accountId: name } }
        : { error: 'access_denied', error_description: 'nobody has this name' }
      return provider.interactionFinished(request, response, result)
    }
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(
      '<!doctype html><html lang="en"><title>Provider</title><h1>Sign in at the provider</h1><form><label>Name <input name="name"></label><button>Go</button></form></html>',
    )
  })
  return {
    issuer,
    clientId,
    clientSecret,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
