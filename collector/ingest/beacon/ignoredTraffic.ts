import type { IgnoredTraffic } from '../../../schemas/ignored.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { compileIgnoreRules, type IgnoreRules } from '../ignored/ignoreRules.ts'
import { openMemoryTable, pageRows } from './memoryTable.ts'

/** The ignored traffic of all projects, in memory, so that a beacon queries no database. */
export interface IgnoredTrafficRegistry {
  /** The rules of a project; undefined if it ignores nothing. */
  rulesOf(projectId: string): IgnoreRules | undefined
  close(): Promise<void>
}

interface ProjectTraffic extends IgnoredTraffic {
  project_id: string
}

/** The condition of the index `projects_with_ignored_traffic`. */
const selectTraffic = `
  SELECT project_id, ignored_networks, ignored_hosts, ignored_paths FROM projects
  WHERE (ignored_networks <> '{}' OR ignored_hosts <> '{}' OR ignored_paths <> '{}')`

/**
 * Opens the registry like openMemoryTable. Without a copy on disk it starts empty, because storing the events
 * of an office is better than refusing those of all visitors.
 */
export async function openIgnoredTraffic(
  postgres: Postgres,
  url: string,
  copy: { dataDir: string; keeps: boolean },
): Promise<IgnoredTrafficRegistry> {
  const read = async (condition: string, values: unknown[]) =>
    (await postgres.query<ProjectTraffic>(`${selectTraffic} AND ${condition}`, values)).rows
  const table = await openMemoryTable<ProjectTraffic>(
    {
      url,
      name: 'ignored_traffic',
      isEmptyWithoutCopy: true,
      keyOf: ({ project_id }) => project_id,
      async readPage(after) {
        const items = await read('project_id > $1 ORDER BY project_id LIMIT $2', [after, pageRows])
        return { items, next: items[pageRows - 1]?.project_id ?? null }
      },
      async readChanges(ids) {
        const items = await read('project_id = ANY($1)', [ids])
        const found = new Set(items.map(({ project_id }) => project_id))
        return { items, removed: ids.filter((id) => !found.has(id)) }
      },
    },
    copy,
  )
  const compiled = new WeakMap<ProjectTraffic, IgnoreRules>()
  return {
    rulesOf(projectId) {
      const traffic = table.get(projectId)
      if (!traffic) return undefined
      let rules = compiled.get(traffic)
      if (!rules) {
        rules = compileIgnoreRules(traffic)
        compiled.set(traffic, rules)
      }
      return rules
    },
    close: () => table.close(),
  }
}
