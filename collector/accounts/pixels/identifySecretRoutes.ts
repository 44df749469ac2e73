import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { type AuditObject, audit } from '../../api/access/audit.ts'
import { personal } from '../../api/access/guard.ts'
import { openIdentifySecrets, type SecretVersions } from '../../api/access/identifySecrets.ts'
import type { Principal } from '../../api/access/principal.ts'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { conflict, notFound } from '../../api/http/errors.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { access } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { pixelFor } from './pixelChecks.ts'

const Secrets = Type.Object({
  pixel_id: Id,
  secrets: Type.Array(
    Type.Object({
      version: Type.Integer({ description: 'Grows with every rotation.' }),
      secret: Type.String({
        description: 'The HMAC key is this text itself, not the bytes that it encodes.',
      }),
    }),
    {
      description: 'All valid secrets, newest first: one, or two during a rotation.',
    },
  ),
})

const Body = strictObject({ pixel_id: Id, project_id: Type.Optional(Id) })
const tags = ['Pixels']

/** /api/v1/pixel/identify-secrets: the secrets with which customers' servers sign `identify`. */
export const identifySecretRoutes =
  ({ postgres }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { access: access.project }

    const readVersions = async (
      client: Queryable,
      pixelId: string,
      lock: '' | 'FOR UPDATE' = '',
    ): Promise<SecretVersions> => {
      const { rows } = await client.query<SecretVersions>(
        `SELECT identify_secret_newest, identify_secret_oldest FROM pixels WHERE pixel_id = $1 ${lock}`,
        [pixelId],
      )
      if (!rows[0]) throw notFound.pixel()
      return rows[0]
    }
    const answerOf = async (pixelId: string, valid: SecretVersions) => {
      const secretsOf = await openIdentifySecrets(postgres)
      return { pixel_id: pixelId, secrets: secretsOf(pixelId, valid) }
    }
    /** Makes the newest secret the oldest valid one. `change` returns the version of the newest secret from now on. */
    const changeSecrets = async (
      { principal, body }: { principal: Principal; body: Static<typeof Body> },
      change: (client: Queryable, pixel: AuditObject, valid: SecretVersions) => Promise<number>,
    ) => {
      const { pixelId } = await pixelFor(postgres, principal, body, 'write')
      return inTransaction(postgres, async (client) => {
        const valid = await readVersions(client, pixelId, 'FOR UPDATE')
        const changed: SecretVersions = {
          identify_secret_oldest: valid.identify_secret_newest,
          identify_secret_newest: await change(client, { kind: 'pixel', id: pixelId }, valid),
        }
        await client.query(
          `UPDATE pixels SET identify_secret_oldest = $2, identify_secret_newest = $3
           WHERE pixel_id = $1`,
          [pixelId, changed.identify_secret_oldest, changed.identify_secret_newest],
        )
        return answerOf(pixelId, changed)
      })
    }

    app.get(
      '/api/v1/pixel/identify-secrets/:pixel_id',
      {
        config,
        schema: {
          tags,
          operationId: 'getIdentifySecrets',
          summary: 'List the identify secrets of a pixel',
          description: `Requires the project admin role. ${signing}`,
          params: strictObject({ pixel_id: Id }),
          querystring: strictObject({ project_id: Type.Optional(Id) }),
          response: { 200: Secrets },
        },
      },
      async ({ principal, params, query }, reply) => {
        const { pixelId } = await pixelFor(postgres, principal, { ...params, ...query }, 'write')
        reply.header('cache-control', personal)
        return answerOf(pixelId, await readVersions(postgres, pixelId))
      },
    )

    app.post(
      '/api/v1/pixel/identify-secrets/rotate',
      {
        config,
        schema: {
          tags,
          operationId: 'rotateIdentifySecret',
          summary: 'Rotate the identify secret of a pixel',
          description:
            'Requires the project admin role. Adds a new secret. Signatures by the previous secret stay valid until it is retired. Returns 409 `conflict` while two secrets are valid.',
          body: Body,
          response: { 200: Secrets },
        },
      },
      async (request) =>
        changeSecrets(request, async (client, pixel, valid) => {
          const { identify_secret_newest: newest, identify_secret_oldest: oldest } = valid
          if (oldest < newest) {
            throw conflict(
              'invalid_state',
              'Two secrets are already valid. Retire the old one before you rotate again.',
            )
          }
          const details = { version: newest + 1 }
          await audit(client, request.principal, 'pixel.identify_secret.rotate', pixel, details)
          return newest + 1
        }),
    )

    app.post(
      '/api/v1/pixel/identify-secrets/retire',
      {
        config,
        schema: {
          tags,
          operationId: 'retireIdentifySecret',
          summary: 'Retire the old identify secret of a pixel',
          description:
            'Requires the project admin role. Only signatures by the newest secret stay valid. Repeating the call changes nothing.',
          body: Body,
          response: { 200: Secrets },
        },
      },
      async (request) =>
        changeSecrets(request, async (client, pixel, valid) => {
          const { identify_secret_newest: newest, identify_secret_oldest: oldest } = valid
          if (oldest < newest) {
            const details = { version: oldest }
            await audit(client, request.principal, 'pixel.identify_secret.retire', pixel, details)
          }
          return newest
        }),
    )
  }

const signing = `Your server signs the hash of the signed-in user's e-mail address: HMAC-SHA256, hex, with the newest
secret. Pass the signature to \`footfall('identify', { email, signature })\`. Signed links rank above the operator's graph.
Unsigned links rank below it, and \`require_signed_identify\` rejects them.`
