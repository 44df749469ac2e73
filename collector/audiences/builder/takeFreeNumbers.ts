import type { Allowance } from '../../billing/allowance.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { parseDefinition } from '../definition/parse.ts'
import { readUsedVersions } from './usedObjects.ts'

/**
 * Takes a free answer for the numbers of a build that has not completed, and notes from when they are shown. Builds of
 * the same definition on one day take one, unless a list or audience that it uses has changed. The audience of a list
 * is internal, so its builds take none.
 */
export async function takeFreeNumbers(
  client: Queryable,
  allowance: Pick<Allowance, 'takeForWork'>,
  buildId: string,
): Promise<void> {
  const { rows } = await client.query<{
    organization_id: string
    project_id: string
    definition: unknown
    intent_window_days: number
  }>(
    `SELECT organization_id, project_id, build.definition, build.intent_window_days
     FROM audience_builds AS build JOIN audiences USING (audience_id) JOIN projects USING (project_id)
     WHERE build_id = $1 AND build.status IN ('pending', 'unloading') AND list_id IS NULL`,
    [buildId],
  )
  const [build] = rows
  if (!build) return
  const { organization_id, project_id, definition, intent_window_days } = build
  const versions = await readUsedVersions(client, parseDefinition(definition))
  const question = ['build', project_id, definition, intent_window_days, versions]
  await client.query('UPDATE audience_builds SET numbers_from = $2 WHERE build_id = $1', [
    buildId,
    await allowance.takeForWork(client, organization_id, question, Date.now()),
  ])
}
