import type { IgnoredTraffic } from '../../../schemas/ignored.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { compileIgnoreRules, type IgnoreRules } from '../ignored/ignoreRules.ts'
import { pageRows } from './memoryTable.ts'
import { openProjectSettings } from './projectSettings.ts'

/** The ignored traffic of all projects. */
export interface IgnoredTrafficRegistry {
  /** The rules of a project; undefined if it ignores nothing. */
  rulesOf(projectId: string): IgnoreRules | undefined
  close(): Promise<void>
}

interface ProjectTraffic extends IgnoredTraffic {
  project_id: string
}

/** Opens the registry as openProjectSettings describes. */
export async function openIgnoredTraffic(
  postgres: Postgres,
  url: string,
  copy: { dataDir: string; keeps: boolean },
): Promise<IgnoredTrafficRegistry> {
  const traffic = await openProjectSettings<ProjectTraffic, IgnoreRules>(postgres, url, copy, {
    name: 'ignored_traffic',
    // The condition of the index `projects_with_ignored_traffic`.
    select: (condition) =>
      `SELECT project_id, ignored_networks, ignored_hosts, ignored_paths FROM projects
       WHERE (ignored_networks <> '{}' OR ignored_hosts <> '{}' OR ignored_paths <> '{}') AND ${condition}`,
    pageRows,
    compile: compileIgnoreRules,
  })
  return { rulesOf: traffic.of, close: traffic.close }
}
