import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { personal } from '../../api/access/guard.ts'
import { openIdentifySecrets, type SecretVersions } from '../../api/access/identifySecrets.ts'
import { exactly, Id } from '../../api/http/commonSchemas.ts'
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

const Body = exactly({ pixel_id: Id, project_id: Type.Optional(Id) })
const columns = 'identify_secret_newest, identify_secret_oldest'
const tags = ['Administration']

/** /api/v1/pixel/identify-secrets: what customers' servers sign `identify` with. */
export const identifySecretRoutes =
  ({ postgres }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = { access: access.project }

    const answerOf = async (pixelId: string, { rows: [valid] }: { rows: SecretVersions[] }) => {
      if (!valid) throw notFound.pixel()
      const secretsOf = await openIdentifySecrets(postgres)
      return { pixel_id: pixelId, secrets: secretsOf(pixelId, valid) }
    }
    const lock = async (client: Queryable, pixelId: string): Promise<SecretVersions> => {
      const { rows } = await client.query<SecretVersions>(
        `SELECT ${columns} FROM pixels WHERE pixel_id = $1 FOR UPDATE`,
        [pixelId],
      )
      if (!rows[0]) throw notFound.pixel()
      return rows[0]
    }
    const setOldest = (client: Queryable, pixelId: string, newest: string) =>
      client.query<SecretVersions>(
        `UPDATE pixels SET identify_secret_oldest = identify_secret_newest, identify_secret_newest = ${newest}
         WHERE pixel_id = $1 RETURNING ${columns}`,
        [pixelId],
      )

    app.get(
      '/api/v1/pixel/identify-secrets/:pixel_id',
      {
        config,
        schema: {
          tags,
          operationId: 'getIdentifySecrets',
          summary: 'List the identify secrets of a pixel',
          description: `Requires the project admin role. ${signing}`,
          params: exactly({ pixel_id: Id }),
          querystring: exactly({ project_id: Type.Optional(Id) }),
          response: { 200: Secrets },
        },
      },
      async ({ principal, params, query }, reply) => {
        const { pixelId } = await pixelFor(postgres, principal, { ...params, ...query }, 'write')
        reply.header('cache-control', personal)
        return answerOf(
          pixelId,
          await postgres.query<SecretVersions>(
            `SELECT ${columns} FROM pixels WHERE pixel_id = $1`,
            [pixelId],
          ),
        )
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
      async ({ principal, body }) => {
        const { pixelId } = await pixelFor(postgres, principal, body, 'write')
        return inTransaction(postgres, async (client) => {
          const valid = await lock(client, pixelId)
          if (valid.identify_secret_oldest < valid.identify_secret_newest) {
            throw conflict(
              'invalid_state',
              'Two secrets are already valid. Retire the old one before you rotate again.',
            )
          }
          const rotated = await setOldest(client, pixelId, 'identify_secret_newest + 1')
          await audit(
            client,
            principal,
            'pixel.identify_secret.rotate',
            { kind: 'pixel', id: pixelId },
            { version: valid.identify_secret_newest + 1 },
          )
          return answerOf(pixelId, rotated)
        })
      },
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
      async ({ principal, body }) => {
        const { pixelId } = await pixelFor(postgres, principal, body, 'write')
        return inTransaction(postgres, async (client) => {
          const valid = await lock(client, pixelId)
          const retired = await setOldest(client, pixelId, 'identify_secret_newest')
          if (valid.identify_secret_oldest < valid.identify_secret_newest) {
            await audit(
              client,
              principal,
              'pixel.identify_secret.retire',
              { kind: 'pixel', id: pixelId },
              { version: valid.identify_secret_oldest },
            )
          }
          return answerOf(pixelId, retired)
        })
      },
    )
  }

const signing = `Your server signs the hash of the signed-in user's e-mail address: HMAC-SHA256, hex, with the newest
secret. Pass the signature to \`footfall('identify', { email, signature })\`. Signed links rank above the operator's graph.
Unsigned links rank below it, and \`require_signed_identify\` rejects them.`
