import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { hashPassword } from '../../api/access/passwords.ts'
import { projectFor } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { objectProject } from '../../api/access/projectObjects.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { ApiError, invalidParameter, notFound } from '../../api/http/errors.ts'
import { rejectUnstorableText } from '../../api/http/rejectUnstorableText.ts'
import type { ReadDeps } from '../../events/query/readDeps.ts'
import { dayMs } from '../../platform/days.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { settingsTags } from '../analyticsSchemas.ts'
import { mayRead } from '../openFigures.ts'
import { listSavedItems } from '../saved/savedItems.ts'
import { segmentKind } from '../saved/savedKinds.ts'
import { daysMax, NewShareLink, ShareLink } from './shareSchemas.ts'
import { createShare, listShares, readShare, revokeShare, type Share, secretOf } from './shares.ts'

const path = '/api/v1/analytics/shares'
const ById = strictObject({ share_id: Id })
const ProjectQuery = strictObject({ project_id: Type.Optional(Id) })

interface NamedShare {
  share_id: string
  project_id: string | undefined
}

type SharesDeps = ReadDeps & { readonly secretBox: SecretBox }

/** /api/v1/analytics/shares: links that show figures without a sign-in, until they end. */
export const sharesRoutes =
  (deps: SharesDeps, publicUrl: string): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, secretBox } = deps
    const urlOf = (shareId: string, secret: string) => `${publicUrl}/share/${shareId}#${secret}`
    /** A share link as its admins see it. */
    const adminShare = (share: Share) => {
      const secret = secretOf(secretBox, share)
      return publicShare(share, secret && urlOf(share.share_id, secret))
    }
    const access = { ...mayRead, keyRole: 'admin' } as const
    app.addHook('preValidation', rejectUnstorableText)

    /** Reads a share link, which must belong to the requested project, if there is one. */
    const readShareOf = async (
      principal: Principal,
      { share_id, project_id }: NamedShare,
    ): Promise<Share> => {
      if (project_id !== undefined) await deps.scopeOf(principal, { projectId: project_id })
      const share = await readShare(postgres, principal.organizationId, share_id)
      const isOfOther = project_id !== undefined && share?.project_id !== project_id
      if (!share || isOfOther) throw notFound.shareLink()
      return share
    }

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
        const projectId = await objectProject(postgres, principal, query.project_id, 'write')
        return { share_links: (await listShares(postgres, projectId)).map(adminShare) }
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
            'the URL, which browsers do not send.',
          body: NewShareLink,
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
        const pixelId = body.pixel_id ?? null
        await deps.scopeOf(principal, {
          projectId: body.project_id,
          ...(pixelId !== null && { pixelId }),
        })
        const projectId = await objectProject(postgres, principal, body.project_id, 'write')
        const segment = body.segment_id
          ? await readSegment(postgres, projectId, body.segment_id)
          : null
        const embedOrigins = (body.embed_origins ?? []).map(readOrigin)
        const passwordHash = body.password ? await hashPassword(body.password, 'share') : null
        const { share, secret } = await inTransaction(postgres, (client) =>
          createShare(client, principal, secretBox, {
            projectId,
            pixelId,
            name: body.name,
            expiresAt,
            segment,
            hasGoals: body.goals ?? false,
            passwordHash,
            embedOrigins,
          }),
        )
        const url = urlOf(share.share_id, secret)
        return reply.code(201).send({ share_link: publicShare(share, url), url, secret })
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
          return { share_link: adminShare(await shareFor(principal, asked)) }
        const share = await readShareOf(principal, asked)
        if (share.share_id !== caller.shareId) throw notFound.shareLink()
        return { share_link: viewedShare(share) }
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

/** The name and the filter of a segment of the project. Throws 404 for one of another project. */
async function readSegment(
  client: Queryable,
  projectId: string,
  segmentId: string,
): Promise<{ name: string; filter: string }> {
  const segments = await listSavedItems(client, projectId, segmentKind)
  const segment = segments.find(({ item_id }) => item_id === segmentId)
  if (!segment) throw notFound.segment()
  return segment.content as { name: string; filter: string }
}

/** Throws 400 for a text that is not an origin: it becomes part of a header. */
function readOrigin(text: string, index: number): string {
  const origin = URL.canParse(text) ? new URL(text).origin : null
  const isOrigin = origin === text.toLowerCase() && /^https?:\/\/[a-z0-9.:[\]-]+$/.test(origin)
  if (isOrigin) return origin
  throw invalidParameter(
    `embed_origins[${index}]`,
    'must be an origin such as https://intranet.example, without a path',
  )
}

/** Throws 400 for a time that is over, or too far ahead. */
function readExpiry(given: string, nowMs: number): Date {
  const expiresAt = new Date(given)
  const inMs = expiresAt.getTime() - nowMs
  if (!(inMs > 0)) throw invalidParameter('expires_at', 'must be in the future')
  if (inMs > daysMax * dayMs)
    throw invalidParameter('expires_at', `must be at most ${daysMax} days from now`)
  return expiresAt
}

const publicShare = (
  { sealed_secret: _, ...share }: Share,
  url: string | null,
): Static<typeof ShareLink> => ({
  ...share,
  url,
})

/** A share link as its viewers see it. */
const viewedShare = (share: Share): Static<typeof ShareLink> => ({
  ...publicShare(share, null),
  created_by: null,
  last_used_at: null,
  filter: null,
  embed_origins: [],
})
