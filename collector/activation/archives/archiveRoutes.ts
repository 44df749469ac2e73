import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import {
  changeObject,
  type ObjectKind,
  objectFor,
  objectProject,
} from '../../api/access/projectObjects.ts'
import { access, writeAccess } from '../../api/access/recordAccess.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { conflict, invalidParameter, notFound } from '../../api/http/errors.ts'
import { changesOf, requireVersion } from '../../api/http/optimisticLock.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import { hourOf } from './archiveJobs.ts'
import {
  Archive,
  ArchiveChange,
  backfillDaysMax,
  listArchives,
  NewArchive,
  readArchive,
  tags,
} from './archives.ts'

interface ArchivesDeps {
  postgres: Postgres
  now(): number
}

const path = '/api/v1/archives'
const ById = strictObject({ archive_id: Id })
const ProjectQuery = strictObject({ project_id: Type.Optional(Id) })
const One = Type.Object({ archive: Archive })
const archives: ObjectKind<Archive> = { read: readArchive, missing: notFound.archive }

/** /api/v1/archives: hourly copies of a project's raw events in a bucket of the customer. */
export const archiveRoutes =
  ({ postgres, now }: ArchivesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      path,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listArchives',
          summary: 'List archives',
          description:
            'Returns the archives of a project that the caller can access, oldest first. Never billed.',
          querystring: strictObject({ project_id: Id }),
          response: { 200: Type.Object({ archives: Type.Array(Archive) }) },
        },
      },
      async ({ principal, query }) => {
        const projectId = await objectProject(postgres, principal, query.project_id, 'read')
        return { archives: await listArchives(postgres, projectId) }
      },
    )

    app.post(
      path,
      {
        config: { access: writeAccess, sampleIds: { archive: sampleIdentity.archiveId } },
        schema: {
          tags,
          operationId: 'createArchive',
          summary: 'Create an archive',
          description:
            'Requires the project admin role. Footfall copies the raw events of the project’s pixels as Parquet to the bucket of an S3 integration, about 70 minutes after each hour begins. Files are `project=ID/day=YYYY-MM-DD/hour=HH.parquet`. Late events get a further file `hour=HH-2.parquet`. `manifest.json` of a day lists all files. They have no identity data. Each archived event is charged once on the meter `events`, like a row of the tier `web_event`.',
          body: NewArchive,
          response: { 201: One },
        },
      },
      async ({ principal, body }, reply) => {
        const projectId = await objectProject(postgres, principal, body.project_id, 'write')
        const startMs = readStart(body.starts_at, now())
        const archive = await inTransaction(postgres, async (client) => {
          await requireBucket(client, projectId, body.integration_id)
          const id = uuidV7()
          const { rowCount } = await client.query(
            `INSERT INTO archives (archive_id, project_id, integration_id, active, starts_at, next_hour,
               daily_records_max)
             VALUES ($1, $2, $3, $4, $5, $5, coalesce($6, 10000000)) ON CONFLICT (project_id, integration_id) DO NOTHING`,
            [
              id,
              projectId,
              body.integration_id,
              body.active ?? true,
              new Date(startMs),
              body.daily_records_max ?? null,
            ],
          )
          if (rowCount === 0)
            throw conflict('already_exists', 'The project already has an archive in this bucket.')
          await audit(client, principal, 'archive.create', { kind: 'archive', id })
          return (await readArchive(client, principal.organizationId, id))!
        })
        return reply.code(201).send({ archive })
      },
    )

    await app.register(singleArchiveRoutes(postgres))
  }

const singleArchiveRoutes =
  (postgres: Postgres): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      `${path}/:archive_id`,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getArchive',
          summary: 'Get an archive',
          description: 'Returns an archive of a project that the caller can access. Never billed.',
          params: ById,
          querystring: ProjectQuery,
          response: { 200: One },
        },
      },
      async ({ principal, params, query }) => ({
        archive: await objectFor(
          postgres,
          principal,
          archives,
          { ...query, id: params.archive_id },
          'read',
        ),
      }),
    )

    app.patch(
      `${path}/:archive_id`,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'updateArchive',
          summary: 'Update an archive',
          description:
            'Requires the project admin role. Pauses or continues the archive, or changes its daily maximum. An archive that continues also copies the hours of its pause, and charges them.',
          params: ById,
          querystring: ProjectQuery,
          body: ArchiveChange,
          response: { 200: One },
        },
      },
      async ({ principal, params, query, body }) => {
        const requested = { ...query, id: params.archive_id }
        return changeObject(postgres, principal, archives, requested, async (client, before) => {
          const id = before.archive_id
          requireVersion('archive', before, body.version)
          await client.query(
            `UPDATE archives SET active = coalesce($2, active),
               daily_records_max = coalesce($3, daily_records_max), paused_by = NULL, paused_reason = NULL,
               version = version + 1, updated_at = now() WHERE archive_id = $1`,
            [id, body.active ?? null, body.daily_records_max ?? null],
          )
          const archive = (await readArchive(client, principal.organizationId, id))!
          const object = { kind: 'archive', id } as const
          await audit(client, principal, 'archive.update', object, changesOf(before, archive))
          return { archive }
        })
      },
    )

    app.delete(
      `${path}/:archive_id`,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'deleteArchive',
          summary: 'Delete an archive',
          description:
            'Requires the project admin role. Nothing more is copied or charged. Files stay in the bucket.',
          params: ById,
          querystring: ProjectQuery,
          response: { 204: Type.Null() },
        },
      },
      async ({ principal, params, query }, reply) => {
        const requested = { ...query, id: params.archive_id }
        await changeObject(postgres, principal, archives, requested, async (client, before) => {
          const id = before.archive_id
          await client.query('DELETE FROM archives WHERE archive_id = $1', [id])
          await audit(client, principal, 'archive.delete', { kind: 'archive', id })
        })
        return reply.code(204).send(null)
      },
    )
  }

/** Throws 400 unless the integration of the project is a bucket. Keeps it until the transaction ends. */
async function requireBucket(
  client: Queryable,
  projectId: string,
  integrationId: string,
): Promise<void> {
  const { rowCount } = await client.query(
    "SELECT FROM integrations WHERE integration_id = $1 AND project_id = $2 AND type = 's3' FOR KEY SHARE",
    [integrationId, projectId],
  )
  if (rowCount === 0)
    throw invalidParameter('integration_id', 'must be an integration of the project with type s3')
}

/** Returns the first hour. Throws 400 for a time in the future or too long ago. */
function readStart(startsAt: string | undefined, nowMs: number): number {
  const startMs = hourOf(startsAt === undefined ? nowMs : Date.parse(startsAt))
  if (startMs <= nowMs && startMs >= nowMs - backfillDaysMax * 86_400_000) return startMs
  throw invalidParameter(
    'starts_at',
    `must be a time within the last ${backfillDaysMax} days (got ${startsAt})`,
  )
}
