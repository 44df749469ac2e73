import { createAudience } from '../../../collector/audiences/audiences.ts'
import { buildNow } from '../../../collector/audiences/builder/buildNow.ts'
import { requestBuild } from '../../../collector/audiences/builds.ts'
import { inTransaction } from '../../../collector/platform/postgres/transaction.ts'
import { storeOrganization, storeProject } from '../../harness/owners.ts'
import { openEvents, organizationId, projectId } from '../events/harness.ts'

/** The app's read side with an organization and a project, whose audiences are built on request. */
export async function openAudiences(options: Parameters<typeof openEvents>[0] = {}) {
  // Audiences and intent are about people of whom all organizations know.
  const events = await openEvents({ isAlone: true, ...options })
  const { postgres, clickhouse } = events
  await storeOrganization(postgres, organizationId, 'Builder')
  await storeProject(postgres, projectId, organizationId)

  /** Builds the audience as it is now; the id of the build. */
  const build = async (audienceId: string, nowMs = Date.now()): Promise<string> => {
    const buildId = await requestBuild(postgres, audienceId)
    await buildNow({ postgres, clickhouse }, buildId, nowMs)
    return buildId
  }
  return {
    ...events,
    build,
    /** Makes an audience of the definition, not built yet. */
    create: (
      definition: Record<string, unknown>,
      name = 'Audience',
      ofProject: string = projectId,
    ): Promise<string> =>
      inTransaction(postgres, (client) => createAudience(client, ofProject, { name, definition })),
    /** Hems or domains of a build, in the order of their keys. */
    async membersOf(buildId: string): Promise<string[]> {
      const rows = await clickhouse.live.rows<{ member: string }>({
        sql: `SELECT if(company_domain = '', lower(hex(reinterpretAsFixedString(hem_number))), company_domain) AS member
              FROM audience_members WHERE build_id = {buildId:UUID} ORDER BY key`,
        params: { buildId },
      })
      return rows.map(({ member }) => member)
    },
  }
}
