import type { RecordScope } from '../../api/access/policy.ts'
import { ApiError, invalidParameter } from '../../api/http/errors.ts'
import { readAudience } from '../../audiences/audiences.ts'
import { entityOf } from '../../audiences/listAudience.ts'
import { readList } from '../../audiences/lists/lists.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { readIntegration } from '../integrations/integrations.ts'
import type { Export } from './exports.ts'
import type { ExportSettings } from './validateExport.ts'

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
export async function readExportRequest(
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
