import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { strictObject } from '../../api/http/commonSchemas.ts'
import { ApiError } from '../../api/http/errors.ts'
import type { ReadDeps } from '../../events/query/readDeps.ts'
import { recordTags } from '../audienceSchemas.ts'
import { readFileById } from './audienceFiles.ts'
import { partPath, type Ticket, ticketOwner, ticketsOf } from './fileStore.ts'
import type { Files } from './open.ts'

type FilesDeps = Pick<ReadDeps, 'postgres' | 'cursors' | 'now'> & Files

/** Sends a part of a download, complete or by Range, to any caller with its signed URL. */
export const filesRoute =
  ({ postgres, cursors, filesDirectory, now }: FilesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const tickets = ticketsOf(cursors)
    await app.register(fastifyStatic, { root: filesDirectory, serve: false, cacheControl: false })
    app.get(
      `${partPath}/:name`,
      {
        config: { access: { to: 'anyone' } },
        schema: {
          tags: recordTags,
          operationId: 'getAudienceFile',
          summary: 'Get a file of an audience',
          description:
            'Open to holders of a URL of the download route, while it is valid. Supports Range.',
          params: strictObject({ name: Type.String() }),
          querystring: strictObject({
            ticket: Type.String({ description: 'Signature of the download route.' }),
          }),
          response: { 200: Type.Unsafe<string>({ type: 'string', description: 'The file.' }) },
        },
      },
      async (request, reply) => {
        const { fileId, name, untilMs } = readTicket(request.query.ticket)
        if (name !== request.params.name) throw unknown()
        const file = untilMs > now() ? await readFileById(postgres, fileId) : undefined
        if (file?.status !== 'ready' || file.is_doubtful) throw expired()
        return reply
          .header('content-disposition', `attachment; filename="${name}"`)
          .header('cache-control', 'private, no-store, no-transform')
          .type('application/octet-stream')
          .sendFile(`${fileId}/${name}`)
      },
    )

    const readTicket = (ticket: string): Ticket => {
      try {
        return tickets.read(ticketOwner, ticket)
      } catch {
        throw unknown()
      }
    }
  }

const unknown = () => new ApiError(404, 'not_found', 'There is no file at this URL.')
const expired = () =>
  new ApiError(410, 'expired', 'This URL has expired. Call the download route for a new one.')
