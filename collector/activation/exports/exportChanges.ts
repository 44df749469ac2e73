import type { Static } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { lockProject } from '../../api/access/locks.ts'
import { projectFor, type RecordScope } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { ApiError, invalidParameter } from '../../api/http/errors.ts'
import { changesOf } from '../../api/http/optimisticLock.ts'
import { readAudience } from '../../audiences/audiences.ts'
import { entityOf } from '../../audiences/listAudience.ts'
import { readList } from '../../audiences/lists/lists.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { readIntegration } from '../integrations/integrations.ts'
import type { ExportChange, NewExport } from './exportSchemas.ts'
import { changeExport, createExport, type Export, readExport } from './exports.ts'
import type { ExportsDeps } from './exportsDeps.ts'
import { type ExportSettings, requireFields, requirePossible } from './validateExport.ts'

/**
 * Creates an export. Throws 400 for settings that its destination does not support, and 403 and 404 for its
 * project and its parts. Throws 409 if a CRM refuses to list its fields.
 */
export async function addExport(
  deps: ExportsDeps,
  principal: Principal,
  body: Static<typeof NewExport>,
): Promise<Export> {
  const { postgres } = deps
  const { organizationId } = principal
  const { projectId } = await projectFor(postgres, principal, 'records', body.project_id, 'write')
  const { audience_id = null, list_id = null, mapping = null } = body
  const parts = { ...body, audience_id, list_id, mapping }
  const settings = await readExportRequest(postgres, organizationId, projectId, parts)
  requirePossible(settings)
  await requireFields(deps, settings)
  return inTransaction(postgres, async (client) => {
    await lockProject(client, projectId)
    await lockParts(client, parts)
    requirePossible(await readExportRequest(client, organizationId, projectId, parts))
    const id = await createExport(client, { ...body, project_id: projectId })
    await audit(client, principal, 'export.create', { kind: 'export', id }, { name: body.name })
    return readExport(client, { organizationId, projectIds: [projectId] }, id)
  })
}

/** Changes the given fields. Throws as addExport does, and 409 after a concurrent change. */
export async function updateExport(
  deps: ExportsDeps,
  principal: Principal,
  { export_id, project_id: requestedProjectId }: { export_id: string; project_id?: string },
  body: Static<typeof ExportChange>,
): Promise<Export> {
  const { postgres } = deps
  const { organizationId } = principal
  const scope = await deps.recordScopeOf(principal, requestedProjectId)
  const current = await readExport(postgres, scope, export_id)
  const { id, project_id } = current
  await projectFor(postgres, principal, 'records', project_id, 'write')
  const parts = { ...current, integration_type: undefined, ...body }
  const settings = await readExportRequest(postgres, organizationId, project_id, parts)
  requirePossible(settings)
  const { mapping, integration_id, output_format } = body
  if ([mapping, integration_id, output_format].some((part) => part !== undefined))
    await requireFields(deps, settings)
  return inTransaction(postgres, async (client) => {
    const before = await readExport(client, scope, id, true)
    const changed = { ...before, integration_type: undefined, ...body }
    await lockParts(client, changed)
    requirePossible(await readExportRequest(client, organizationId, project_id, changed))
    await changeExport(client, before, body)
    const after = await readExport(client, scope, id)
    await audit(
      client,
      principal,
      'export.update',
      { kind: 'export', id },
      changesOf(before, after),
    )
    return after
  })
}

/** Locks the list and the integration, so that a later deletion or change of them sees the export. */
async function lockParts(
  client: Queryable,
  { list_id, integration_id }: Pick<Export, 'list_id' | 'integration_id'>,
): Promise<void> {
  await client.query('SELECT FROM lists WHERE list_id = $1 FOR KEY SHARE', [list_id])
  await client.query('SELECT FROM integrations WHERE integration_id = $1 FOR KEY SHARE', [
    integration_id,
  ])
}

/** The parts of an export that must be consistent. */
type Parts = Pick<
  Export,
  'audience_id' | 'list_id' | 'integration_id' | 'output_format' | 'mapping'
> & {
  integration_type?: Export['integration_type'] | undefined
}

/**
 * Reads the source and destination of an export of a project. Throws 400 unless it names exactly one of an
 * audience and a list. Throws 400 for an audience, list or integration of another project, because a body
 * cannot be "not found".
 */
async function readExportRequest(
  client: Queryable,
  organizationId: string,
  projectId: string,
  parts: Parts,
): Promise<ExportSettings> {
  const { audience_id, list_id, integration_id, integration_type, output_format, mapping } = parts
  if ((audience_id === null) === (list_id === null)) {
    throw invalidParameter('audience_id', 'requires either audience_id or list_id')
  }
  const scope: RecordScope = { organizationId, projectIds: [projectId] }
  const integration = await named('integration_id', readIntegration(client, scope, integration_id))
  const entity =
    audience_id === null
      ? entityOf((await named('list_id', readList(client, scope, list_id!))).kind)
      : (
          await named(
            'audience_id',
            readAudience(client, { organizationId, projectId }, audience_id),
          )
        ).entity
  return {
    integration,
    integrationType: integration_type,
    outputFormat: output_format,
    mapping,
    entity,
  }
}

/** Converts a 404 to a 400 that names the parameter. */
const named = <T>(parameter: string, reading: Promise<T>): Promise<T> =>
  reading.catch((error: unknown) => {
    const isMissing = error instanceof ApiError && error.status === 404
    throw isMissing
      ? invalidParameter(parameter, `${error.message.replace('you can access', 'of the project')}`)
      : error
  })
