import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audienceProjectOf } from '../api/access/policy.ts'
import type { Principal } from '../api/access/principal.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { access } from '../api/access/recordAccess.ts'
import { Id, Nullable, strictObject, Timestamp } from '../api/http/commonSchemas.ts'
import { untilClosed } from '../api/http/streaming.ts'
import type { KeySpan } from '../billing/buildPart.ts'
import { ChargedMeta, chargedMeta } from '../billing/chargedMeta.ts'
import { admit, settle } from '../billing/chargedRequest.ts'
import { csvFormulas } from '../events/query/page/csvFormulas.ts'
import { erasedHems } from '../events/query/profiles/suppressedPeople.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { ById, Meter, ProjectQuery, recordTags } from './audienceSchemas.ts'
import { readAudience, type StoredAudience } from './audiences.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { readBuild, readNewestBuild, requestBuild } from './builds.ts'
import { type AudienceFile, expireFile, readFile, requestFile } from './files/audienceFiles.ts'
import { shownSpansQuery } from './files/rowsQuery.ts'
import { type FileFormat, formats } from './files/writeFile.ts'
import { findMembersOf } from './findMembers.ts'

/** Time after which a failed first build is requested again. */
const retryMs = 60_000
/** How long the URL of a part is valid. */
const urlMs = 15 * 60_000

const Format = Type.Enum(formats, { default: 'csv' })

/** Spec: StoredAudience download status. */
const DownloadStatus = Type.Enum(['pending', 'unloading', 'ready', 'failed', 'expired'])

const Download = Type.Object(
  {
    audience_id: Id,
    build_id: Nullable(
      Type.String({ format: 'uuid', description: 'Null before the first build.' }),
    ),
    status: DownloadStatus,
    format: Format,
    count: Nullable(Type.Integer({ description: 'Rows of all files; null until they are ready.' })),
    files: Type.Array(
      Type.Object({
        name: Type.String(),
        url: Type.String({ description: 'Valid for 15 minutes; each call signs it again.' }),
        rows: Type.Integer(),
        bytes: Type.Integer(),
        sha256: Type.String(),
      }),
    ),
    expires_at: Nullable(Timestamp, { description: 'When the files are deleted.' }),
    urls_expire_at: Nullable(Timestamp, {
      description: 'When the URLs of this answer expire; null until the files are ready.',
    }),
    meter: Meter,
    charged: Type.Integer({
      description:
        'Records charged by this call. Each person of a build is charged once, regardless of the format.',
    }),
    meta: ChargedMeta,
  },
  { title: 'AudienceDownload' },
)

/** GET /api/v1/audiences/{audience_id}/download: starts missing builds and files, and returns URLs. */
export const downloadRoute =
  ({
    postgres,
    billing,
    openQueryExecutor,
    files,
    now,
  }: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/audiences/:audience_id/download',
      {
        config: { access, charged: true },
        schema: {
          tags: recordTags,
          operationId: 'downloadAudience',
          summary: 'Download an audience',
          description:
            'Starts the files of the served build; files that are `expired` or `failed` are written again. Repeat the call until the status is `ready`. Each person of a build is charged once, when a file with them is first ready. Each file has at most 50,000 rows.',
          params: ById,
          querystring: strictObject({
            ...ProjectQuery.properties,
            format: Type.Optional(Format),
            csv_formulas: Type.Optional(csvFormulas('escape')),
          }),
          response: { 200: Download },
        },
      },
      async (request, reply): Promise<Static<typeof Download>> => {
        const { principal, params, query } = request
        const projectId = await audienceProjectOf(postgres, request, 'identity')
        const scope = { organizationId: principal.organizationId, projectId }
        const audience = await readAudience(postgres, scope, params.audience_id)
        const format = query.format ?? 'csv'
        const answer = answerWithoutFiles(audience, format)
        const fileFormat: FileFormat =
          format === 'csv' && query.csv_formulas === 'keep' ? 'csv_unescaped' : format
        if (audience.build_id === null)
          return { ...answer, status: await statusBefore(postgres, audience, now()) }
        const file = await readFile(postgres, audience.build_id, fileFormat)
        if (file?.status === 'ready' && file.is_doubtful) return { ...answer, status: 'unloading' }
        if (file?.status !== 'ready') {
          if (!isUnderWay(file)) await requestFile(postgres, audience.build_id, fileFormat)
          return { ...answer, status: file?.status ?? 'pending' }
        }
        const rows = file.parts.reduce((sum, part) => sum + part.rows, 0)
        const members = (await readBuild(postgres, audience.build_id))!.count!
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'page',
          signal: untilClosed(reply),
        })
        const ready = { ...file, rows, members }
        const keys = await keysOf({ postgres, queryExecutor }, principal, audience, ready)
        if (keys === null) {
          // People are shown again who are not in the file.
          await expireFile(postgres, file.file_id)
          await requestFile(postgres, file.build_id, fileFormat)
          return { ...answer, status: 'pending' }
        }
        const buildId = file.build_id
        const findMembers = findMembersOf(queryExecutor, buildId)
        const admitted = await admit(billing, request, reply, {
          meter: audience.meter,
          projectId: audience.project_id,
          recordsMax: rows,
          build: { buildId, keys, findMembers },
        })
        // A later file may have more records: of people who were hidden when an earlier one was written.
        const { charged } = await settle(admitted, { records: rows, isDownload: true })
        const untilMs = Math.min(now() + urlMs, file.expires_at!.getTime())
        return {
          ...answer,
          status: 'ready',
          count: rows,
          files: await Promise.all(
            file.parts.map(async (part) => ({
              ...part,
              url: await files.urlOf(file.file_id, part.name, untilMs),
            })),
          ),
          expires_at: file.expires_at!.toISOString(),
          urls_expire_at: new Date(untilMs).toISOString(),
          charged,
          meta: chargedMeta(audience.meter, rows, charged),
        }
      },
    )
  }

const answerWithoutFiles = (
  { id, build_id, meter }: StoredAudience,
  format: Static<typeof Format>,
) => ({
  audience_id: id,
  build_id,
  format,
  meter,
  count: null,
  files: [],
  expires_at: null,
  urls_expire_at: null,
  charged: 0,
  meta: chargedMeta(meter, 0, 0),
})

interface Stores {
  readonly postgres: Postgres
  readonly queryExecutor: QueryExecutor
}

type ReadyFile = Pick<AudienceFile, 'build_id' | 'fingerprint'> & { rows: number; members: number }

/** The keys of a file's records in its build. Null if the file lacks members who are shown now. */
async function keysOf(
  { postgres, queryExecutor }: Stores,
  { organizationId }: Principal,
  { entity }: StoredAudience,
  { build_id: buildId, fingerprint, rows, members: count }: ReadyFile,
): Promise<readonly KeySpan[] | null> {
  if (rows === count) return [{ after: 0, upTo: count }]
  const erased = await erasedHems(postgres, organizationId)
  const members = { organizationId, buildId, entity, erased }
  const [now] = await queryExecutor.rows<{ fingerprint: string; spans: KeySpan[] }>(
    shownSpansQuery(members),
  )
  return now!.fingerprint === fingerprint ? now!.spans : null
}

/** Returns the status before the first build. Requests a new build some time after one has failed. */
async function statusBefore(postgres: Postgres, { id }: StoredAudience, nowMs: number) {
  const { status, updated_at } = await readNewestBuild(postgres, id)
  if (status === 'failed' && nowMs - updated_at.getTime() > retryMs)
    await requestBuild(postgres, id)
  // The build completed after the audience was read, so the next call finds the served build.
  return status === 'completed' ? 'pending' : status
}

const isUnderWay = (file: AudienceFile | undefined): boolean =>
  file?.status === 'pending' || file?.status === 'unloading'
