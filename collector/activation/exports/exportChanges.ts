import type { Static } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { projectFor } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { changesOf } from '../../api/http/optimisticLock.ts'
import { lockAudiencesOf } from '../../audiences/audiences.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import type { ExportChange, NewExport } from './exportSchemas.ts'
import { changeExport, createExport, type Export, readExport } from './exports.ts'
import type { ExportsDeps } from './exportsDeps.ts'
import { readExportRequest } from './readExportRequest.ts'
import { requireFields, requirePossible } from './validateExport.ts'

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
    await lockAudiencesOf(client, projectId)
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
