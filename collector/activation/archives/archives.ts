import { type Static, Type } from 'typebox'
import {
  Choice,
  Id,
  Nullable,
  SeenVersion,
  strictObject,
  Timestamp,
  Version,
} from '../../api/http/commonSchemas.ts'
import { refusalCodes } from '../../billing/jobCharges.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

export const tags = ['Archives']

/** How many hours back an archive may start. */
export const backfillDaysMax = 400

const fields = {
  project_id: Id,
  integration_id: { ...Id, description: 'An integration of the project with the type `s3`.' },
  active: Type.Boolean({ description: 'Whether further hours are archived.' }),
  daily_records_max: Type.Integer({
    minimum: 1,
    maximum: 1_000_000_000_000,
    description:
      'The events that the archive charges at most on a UTC day. An hour that would exceed it waits for the next day, and the owners get a mail.',
  }),
}

export const NewArchive = strictObject({
  ...fields,
  active: Type.Optional({ ...fields.active, default: true }),
  daily_records_max: Type.Optional({ ...fields.daily_records_max, default: 10_000_000 }),
  starts_at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: `The first hour, rounded down. At most ${backfillDaysMax} days ago. Default: the current hour.`,
    }),
  ),
})
export type NewArchive = Static<typeof NewArchive>

export const ArchiveChange = strictObject({
  active: Type.Optional(fields.active),
  daily_records_max: Type.Optional(fields.daily_records_max),
  version: SeenVersion,
})

export const Archive = Type.Object(
  {
    archive_id: Id,
    ...fields,
    starts_at: { ...Timestamp, description: 'The first hour.' },
    archived_until: {
      ...Timestamp,
      description: 'The files of all hours before this time are in the bucket.',
    },
    files: Type.Integer({ description: 'The number of files in the bucket.' }),
    rows: Type.Integer({ description: 'The number of events in these files.' }),
    paused_by: Nullable(Choice([...refusalCodes, 'destination', 'daily_records_max']), {
      description: 'Why the next hour waits. Footfall tries again every minute. Null: it does not.',
    }),
    paused_reason: Nullable(Type.String(), { description: 'The reason in words.' }),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Archive' },
)
export type Archive = Static<typeof Archive>

const selectArchives = `
  SELECT archive_id, archives.project_id, integration_id, active,
    daily_records_max::float8 AS daily_records_max, starts_at, next_hour AS archived_until,
    paused_by, paused_reason, archives.version, archives.created_at, archives.updated_at, stored.*
  FROM archives JOIN projects USING (project_id) CROSS JOIN LATERAL (
    SELECT count(*)::int AS files, coalesce(sum(rows), 0)::float8 AS rows FROM archive_files
    WHERE archive_files.archive_id = archives.archive_id AND stored_at IS NOT NULL) AS stored`

/** Reads the archives of a project, oldest first. */
export const listArchives = (client: Queryable, projectId: string): Promise<Archive[]> =>
  readRecords<Archive>(
    client,
    `${selectArchives} WHERE archives.project_id = $1 ORDER BY archives.created_at, archive_id`,
    [projectId],
  )

export async function readArchive(
  client: Queryable,
  organizationId: string,
  archiveId: string,
  lock = false,
): Promise<Archive | undefined> {
  const [archive] = await readRecords<Archive>(
    client,
    `${selectArchives} WHERE organization_id = $1 AND archive_id = $2 ${lock ? 'FOR UPDATE OF archives' : ''}`,
    [organizationId, archiveId],
  )
  return archive
}
