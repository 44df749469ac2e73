import type { Static } from 'typebox'
import { isUuid } from '../../../schemas/uuid.ts'
import type { RecordScope } from '../../api/access/policy.ts'
import { conflict, notFound } from '../../api/http/errors.ts'
import { requireVersion } from '../../api/http/optimisticLock.ts'
import { readPage } from '../../api/http/pagination.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import type { ExportChange, Export as ExportSchema, NewExport } from './exportSchemas.ts'
import type { ExportsDeps } from './exportsDeps.ts'

export type Export = Static<typeof ExportSchema>

const chosen = `FROM exports JOIN integrations USING (integration_id) JOIN projects
    ON projects.project_id = exports.project_id
  WHERE organization_id = $1 AND ($2::uuid[] IS NULL OR exports.project_id = ANY($2))
    AND ($3::uuid IS NULL OR export_id = $3) AND ($4::uuid IS NULL OR audience_id = $4)
    AND ($5::uuid IS NULL OR audience_id = (SELECT audience_id FROM campaigns WHERE campaign_id = $5))`

const columns = `export_id AS id, exports.project_id, exports.name, audience_id, list_id, integration_id,
  type AS integration_type,  output_format, mapping, schedule, daily_records_max::float8 AS daily_records_max, exports.version, exports.created_at, exports.updated_at`

interface Choice {
  export_id?: string | undefined
  audience_id?: string | undefined
  campaign_id?: string | undefined
}

const parametersOf = (scope: RecordScope, { export_id, audience_id, campaign_id }: Choice) => [
  scope.organizationId,
  scope.projectIds,
  export_id ?? null,
  audience_id ?? null,
  campaign_id ?? null,
]

/** Reads an export. Throws 404 "export not found", also for one outside the scope. */
export async function readExport(
  client: Queryable,
  scope: RecordScope,
  exportId: string,
  lock = false,
): Promise<Export> {
  if (!isUuid(exportId)) throw notFound.export()
  const [found] = await readRecords<Export>(
    client,
    `SELECT ${columns} ${chosen} ${lock ? 'FOR UPDATE OF exports' : ''}`,
    parametersOf(scope, { export_id: exportId }),
  )
  if (!found) throw notFound.export()
  return found
}

/** Returns a page of exports, oldest first. Throws 400 for an invalid cursor. */
export async function listExports(
  deps: Pick<ExportsDeps, 'postgres' | 'cursors'>,
  scope: RecordScope,
  {
    audience_id,
    campaign_id,
    ...page
  }: Omit<Choice, 'export_id'> & { limit?: number; cursor?: string },
): Promise<{ exports: Export[]; next_cursor?: string }> {
  const { rows, next } = await readPage<Export>(deps, page, {
    list: 'exports',
    owner: scope.organizationId,
    sql: `SELECT ${columns} ${chosen}`,
    values: parametersOf(scope, { audience_id, campaign_id }),
    key: { id: 'uuid' },
  })
  return { exports: rows, ...next }
}

type ValidExport = Omit<Static<typeof NewExport>, 'project_id' | 'integration_type'> & {
  project_id: string
}

export async function createExport(
  client: Queryable,
  settings: ValidExport,
  id = uuidV7(),
): Promise<string> {
  const {
    project_id,
    name,
    audience_id,
    list_id,
    integration_id,
    output_format,
    mapping,
    schedule,
    daily_records_max,
  } = settings
  await client.query(
    `INSERT INTO exports (export_id, project_id, name, audience_id, list_id, integration_id, output_format, mapping,
       schedule, daily_records_max)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce($10, 1000000))`,
    [
      id,
      project_id,
      name,
      audience_id ?? null,
      list_id ?? null,
      integration_id,
      output_format,
      mapping ? JSON.stringify(mapping) : null,
      schedule ?? 'manual',
      daily_records_max ?? null,
    ],
  )
  return id
}

/**
 * Changes the given fields; requested runs stay unchanged. Throws 409 with the current export if `version` is
 * not the newest. Call it with the row locked.
 */
export async function changeExport(
  client: Queryable,
  current: Export,
  { version, integration_type: _, ...change }: Static<typeof ExportChange>,
): Promise<void> {
  requireVersion('export', current, version)
  const { id, name, integration_id, output_format, mapping, schedule, daily_records_max } = {
    ...current,
    ...change,
  }
  await client.query(
    `UPDATE exports SET name = $2, integration_id = $3, output_format = $4, mapping = $5, schedule = $6,
       daily_records_max = $7,
       version = version + 1, updated_at = now()
     WHERE export_id = $1`,
    [
      id,
      name,
      integration_id,
      output_format,
      mapping ? JSON.stringify(mapping) : null,
      schedule,
      daily_records_max,
    ],
  )
}

/** Deletes an export with its runs. Throws 409 "conflict" while a run is in progress. */
export async function deleteExport(client: Queryable, exportId: string): Promise<void> {
  const { rows } = await client.query<{ run_id: string }>(
    `SELECT run_id FROM export_runs WHERE export_id = $1 AND status IN ('pending', 'running', 'parked')`,
    [exportId],
  )
  if (rows[0]) {
    throw conflict(
      'in_use',
      `The run ${rows[0].run_id} is in progress: cancel it, or wait until it ends.`,
      {
        run_id: rows[0].run_id,
      },
    )
  }
  await client.query('DELETE FROM exports WHERE export_id = $1', [exportId])
}
