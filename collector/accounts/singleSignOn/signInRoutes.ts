import { randomBytes } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { sha256 } from '../../api/access/authenticate.ts'
import { networkOf } from '../../api/access/network.ts'
import { requireSameOrigin } from '../../api/access/sameOrigin.ts'
import { requireToken } from '../../api/access/tries.ts'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { ApiError, busy, notFound } from '../../api/http/errors.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { access } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { startSession } from '../sessions/sessions.ts'
import { claimsOf, discoverProvider, said, signInUrl, stateOf } from './provider.ts'
import { memberOfPerson, personOf, SignInRefused } from './providerMember.ts'
import {
  readSingleSignOn,
  redirectUriOf,
  type StoredSingleSignOn,
  secretPurpose,
} from './settings.ts'

/** The query parameters that providers add; they may add more. */
const Returned = Type.Object({
  state: Type.Optional(
    Type.String({ maxLength: 200, description: 'The state that the sign-in was started with.' }),
  ),
  code: Type.Optional(
    Type.String({ maxLength: 4000, description: 'The authorization code of the provider.' }),
  ),
  iss: Type.Optional(Type.String({ maxLength: 500, description: 'The issuer, if it is sent.' })),
  error: Type.Optional(
    Type.String({ maxLength: 200, description: 'Why the provider refused the sign-in.' }),
  ),
})

const tags = ['Dashboard']
/** Time limit for the sign-in at the provider. */
const minutes = 10

/** /dashboard/single-sign-on: redirects to an organization's provider, and receives the browser after its sign-in. */
export const providerSignInRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, publicUrl, outbound, secretBox } = deps
    const config = { access: access.anyone }
    const providerOf = ({ organization_id, ...settings }: StoredSingleSignOn) =>
      discoverProvider(outbound, {
        issuer: settings.issuer,
        clientId: settings.client_id,
        clientSecret: secretBox.open(settings.client_secret, secretPurpose(organization_id)),
      })

    app.post(
      '/dashboard/single-sign-on',
      {
        config,
        schema: {
          tags,
          operationId: 'startSingleSignOn',
          summary: 'Start single sign-on',
          description:
            'Open to all callers. Returns the address of the provider’s sign-in page, and sets a cookie that binds the sign-in to this browser for ten minutes. Limited per network and per organization.',
          body: strictObject({
            sign_in_name: Type.String({
              minLength: 1,
              maxLength: 63,
              description: 'The name of the organization’s single sign-on.',
              examples: ['acme'],
            }),
          }),
          response: { 200: Type.Object({ url: Type.String() }) },
        },
      },
      async (request, reply) => {
        requireSameOrigin(request, publicUrl)
        await limitNetwork(request)
        const settings = await readSingleSignOn(postgres, {
          signInName: request.body.sign_in_name.trim().toLowerCase(),
        })
        if (!settings) throw notFound.singleSignOn()
        const organizationId = settings.organization_id
        await requireToken(postgres, [
          { name: `single_sign_on_organization:${organizationId}`, burst: 300, everySeconds: 0.2 },
        ])
        const secret = randomBytes(32).toString('base64url')
        const url = await signInAt(settings, secret).catch((error: unknown) => {
          request.log.warn({ organizationId, error: said(error) }, 'cannot reach the provider')
          throw busy('The identity provider of this organization does not answer.', 10)
        })
        await postgres.query(
          `INSERT INTO provider_sign_ins (state_sha256, organization_id, expires_at)
           VALUES ($1, $2, now() + $3 * interval '1 minute')`,
          [sha256(stateOf(secret)), organizationId, minutes],
        )
        setCookie(reply, secret, minutes * 60, publicUrl)
        return { url }
      },
    )

    app.get(
      '/dashboard/single-sign-on/callback/:organization_id',
      {
        config,
        schema: {
          // A page for browsers on their way back, and no operation of the API.
          hide: true,
          params: strictObject({ organization_id: Id }),
          querystring: Returned,
        },
      },
      async (request, reply) => {
        const secret = parseCookie(request.headers.cookie ?? '')[cookieName(publicUrl)] ?? ''
        setCookie(reply, '', 0, publicUrl)
        const { organization_id: organizationId } = request.params
        try {
          await limitNetwork(request)
          await finish(request, reply, secret, organizationId)
        } catch (error) {
          const reason = reasonOf(error)
          request.log.warn(
            { organizationId, reason, error: said(error) },
            'a single sign-on was refused',
          )
          return reply.redirect(`/sign-in?single_sign_on=${reason}`, 303)
        }
        return reply.redirect(`/${organizationId}`, 303)
      },
    )

    /** The address of the sign-in page. Throws if the provider does not answer, or names no http(s) address. */
    const signInAt = async (settings: StoredSingleSignOn, secret: string): Promise<string> =>
      signInUrl(
        await providerOf(settings),
        secret,
        redirectUriOf(publicUrl, settings.organization_id),
        settings.group_roles.length > 0,
      )

    const limitNetwork = ({ ip }: FastifyRequest): Promise<void> =>
      requireToken(postgres, [
        { name: `single_sign_on:${networkOf(ip)}`, burst: 300, everySeconds: 1 },
      ])

    /** Signs the person in whom the provider has authenticated. Throws for everything that does not fit. */
    async function finish(
      request: FastifyRequest,
      reply: FastifyReply,
      secret: string,
      organizationId: string,
    ): Promise<void> {
      // Deleted before any request, so that a state works only once.
      const { rowCount } = await postgres.query(
        `DELETE FROM provider_sign_ins
         WHERE state_sha256 = $1 AND organization_id = $2 AND expires_at > now()`,
        [sha256(stateOf(secret)), organizationId],
      )
      const settings =
        rowCount === 1 ? await readSingleSignOn(postgres, { organizationId }) : undefined
      if (!settings) throw new SignInRefused('expired')
      const callback = new URL(redirectUriOf(publicUrl, organizationId))
      callback.search = new URL(request.url, publicUrl).search
      const needed = settings.group_roles.length > 0 ? [settings.group_claim] : []
      const claims = await claimsOf(await providerOf(settings), secret, callback, needed)
      const person = personOf(claims, settings)
      const isMember = await inTransaction(postgres, async (client) => {
        const member = await memberOfPerson(client, settings, person)
        if (!member) return false
        const { memberId, role } = member
        const actor = { organizationId, caller: { kind: 'member', memberId, role } } as const
        const object = { kind: 'member', id: memberId } as const
        await audit(client, actor, 'member.sign_in', object, {
          by: 'provider',
          address: request.ip,
        })
        await startSession(client, request, reply, { memberId }, publicUrl)
        return true
      })
      if (!isMember) throw new SignInRefused('group_refused')
    }
  }

const reasonOf = (error: unknown): string => {
  if (error instanceof SignInRefused) return error.reason
  return error instanceof ApiError && error.status === 429 ? 'rate_limited' : 'provider_failed'
}

const cookieName = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? '__Host-footfall_sign_in' : 'footfall_sign_in'

function setCookie(reply: FastifyReply, value: string, maxAge: number, publicUrl: string): void {
  reply.header(
    'set-cookie',
    stringifySetCookie({
      name: cookieName(publicUrl),
      value,
      maxAge,
      path: '/',
      httpOnly: true,
      // The way back is a navigation from another site, which Strict would send without the cookie.
      sameSite: 'lax',
      secure: publicUrl.startsWith('https:'),
    }),
  )
}
