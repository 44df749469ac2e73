import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { projectFor } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { Id, Name, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { ApiError, invalidParameter, notFound } from '../../api/http/errors.ts'
import { rejectUnstorableText } from '../../api/http/rejectUnstorableText.ts'
import type { ReadDeps } from '../../events/query/readDeps.ts'
import { dayMs } from '../../events/query/window.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { settingsTags } from '../analyticsSchemas.ts'
import { mayRead } from '../openFigures.ts'
import { createShare, listShares, readShare, revokeShare, type Share } from './shares.ts'

/** Longest validity of a share link, in days. */
const daysMax = 366

const ShareLink = Type.Object(
  {
    share_id: Id,
    name: Type.String({ description: 'Name of the share link. Viewers of the link see it.' }),
    project_id: Id,
    project_name: Type.String(),
    pixel_id: Nullable(Id, {
      description: 'Pixel of the share link. Null: all pixels of the project.',
    }),
    pixel_name: Nullable(Type.String()),
    created_at: Timestamp,
    created_by: Nullable(
      Type.String({
        description:
          'Name of the API key, or e-mail address of the member. Null for viewers of the link.',
      }),
    ),
    expires_at: Timestamp,
    last_used_at: Nullable(Timestamp, {
      description: 'Time of the last use, rounded to the minute. Null for viewers of the link.',
    }),
  },
  { title: 'ShareLink' },
)

const path = '/api/v1/analytics/shares'
const ById = strictObject({ share_id: Id })
const ProjectQuery = strictObject({ project_id: Type.Optional(Id) })

/** The parameters that name a share link. */
interface NamedShare {
  share_id: string
  project_id: string | undefined
}

/** /api/v1/analytics/shares: links that show figures to viewers without an account, until they expire. */
export const sharesRoutes =
  (deps: ReadDeps, publicUrl: string): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = deps
    const access = { ...mayRead, keyRole: 'admin' } as const
    app.addHook('preValidation', rejectUnstorableText)

    /** Reads a share link, which must belong to the requested project, if there is one. */
    const readShareOf = async (
      principal: Principal,
      { share_id, project_id }: NamedShare,
    ): Promise<Share> => {
      const projectId = project_id?.toLowerCase()
      if (projectId !== undefined) await deps.scopeOf(principal, { projectId })
      const share = await readShare(postgres, principal.organizationId, share_id.toLowerCase())
      const isOfOther = projectId !== undefined && share?.project_id !== projectId
      if (!share || isOfOther) throw notFound.shareLink()
      return share
    }

    /** Reads a share link that the caller administers. */
    const shareFor = async (principal: Principal, asked: NamedShare): Promise<Share> => {
      const share = await readShareOf(principal, asked)
      await projectFor(postgres, principal, 'events', share.project_id, 'write').catch((error) => {
        const isOther = error instanceof ApiError && [401, 404].includes(error.status)
        throw isOther ? notFound.shareLink() : error
      })
      return share
    }

    app.get(
      path,
      {
        config: { access },
        schema: {
          tags: settingsTags,
          operationId: 'listShareLinks',
          summary: 'List the share links of a project',
          description:
            'Requires the project admin role. Returns all share links, including expired ones. Sorted by time, newest first.',
          querystring: strictObject({ project_id: Id }),
          response: { 200: Type.Object({ share_links: Type.Array(ShareLink) }) },
        },
      },
      async ({ principal, query }) => {
        const { projectId } = await projectFor(
          postgres,
          principal,
          'events',
          query.project_id,
          'write',
        )
        return { share_links: (await listShares(postgres, projectId)).map(publicShare) }
      },
    )

    app.post(
      path,
      {
        config: {
          access,
          sampleIds: { share_link: sampleIdentity.shareId },
          refusals: { 409: '`conflict`: the project has too many share links.' },
        },
        schema: {
          tags: settingsTags,
          operationId: 'createShareLink',
          summary: 'Create a share link',
          description:
            'Requires the project admin role. A share link shows the overview of a project, or of one of its pixels, without a ' +
            'sign-in. It shows figures only, without bots and without data about people. The secret is in the fragment of ' +
            'the URL, which browsers do not send. Only this response contains the secret.',
          body: strictObject({
            project_id: Id,
            pixel_id: Type.Optional(Nullable(Id)),
            name: Name,
            expires_at: Type.Unsafe<string>({
              ...Timestamp,
              description: `End of the share link: in the future, at most ${daysMax} days from now.`,
            }),
          }),
          response: {
            201: Type.Object({
              share_link: ShareLink,
              url: Type.String({ description: 'The URL to share.' }),
              secret: Type.String({
                description:
                  'Send it as `Authorization: Bearer` to read overview, timeseries, breakdown and live.',
              }),
            }),
          },
        },
      },
      async ({ principal, body }, reply) => {
        const expiresAt = readExpiry(body.expires_at, deps.now())
        const pixelId = body.pixel_id?.toLowerCase() ?? null
        await deps.scopeOf(principal, {
          projectId: body.project_id.toLowerCase(),
          ...(pixelId !== null && { pixelId }),
        })
        const { projectId } = await projectFor(
          postgres,
          principal,
          'events',
          body.project_id,
          'write',
        )
        const { share, secret } = await inTransaction(postgres, (client) =>
          createShare(client, principal, { projectId, pixelId, name: body.name, expiresAt }),
        )
        const url = `${publicUrl}/share/${share.share_id}#${secret}`
        return reply.code(201).send({ share_link: publicShare(share), url, secret })
      },
    )

    app.get(
      `${path}/:share_id`,
      {
        config: { access },
        schema: {
          tags: settingsTags,
          operationId: 'getShareLink',
          summary: 'Get a share link',
          params: ById,
          querystring: ProjectQuery,
          description: 'Requires the project admin role or the share link itself.',
          response: { 200: Type.Object({ share_link: ShareLink }) },
        },
      },
      async ({ principal, params, query }) => {
        const { caller } = principal
        const asked = { share_id: params.share_id, project_id: query.project_id }
        if (caller.kind !== 'share')
          return { share_link: publicShare(await shareFor(principal, asked)) }
        const share = await readShareOf(principal, asked)
        if (share.share_id !== caller.shareId) throw notFound.shareLink()
        return { share_link: { ...publicShare(share), created_by: null, last_used_at: null } }
      },
    )

    app.delete(
      `${path}/:share_id`,
      {
        config: { access },
        schema: {
          tags: settingsTags,
          operationId: 'revokeShareLink',
          summary: 'Revoke a share link',
          params: ById,
          querystring: ProjectQuery,
          description:
            'Requires the project admin role. The share link stops working within a second.',
          response: { 204: Type.Null({ description: 'Revoked.' }) },
        },
      },
      async ({ principal, params, query }, reply) => {
        const share = await shareFor(principal, {
          share_id: params.share_id,
          project_id: query.project_id,
        })
        await inTransaction(postgres, (client) => revokeShare(client, principal, share))
        return reply.code(204).send(null)
      },
    )
  }

/** Throws 400 for a time that has passed, or is too far ahead. */
function readExpiry(given: string, nowMs: number): Date {
  const expiresAt = new Date(given)
  const inMs = expiresAt.getTime() - nowMs
  if (!(inMs > 0)) throw invalidParameter('expires_at', 'must be in the future')
  if (inMs > daysMax * dayMs)
    throw invalidParameter('expires_at', `must be at most ${daysMax} days from now`)
  return expiresAt
}

const publicShare = ({
  created_at,
  expires_at,
  last_used_at,
  ...share
}: Share): Static<typeof ShareLink> => ({
  ...share,
  created_at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
  last_used_at: last_used_at?.toISOString() ?? null,
})
