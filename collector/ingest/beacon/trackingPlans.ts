import type { TrackingPlan } from '../../../schemas/trackingPlan.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { type CompiledPlan, compilePlan } from '../plan/compilePlan.ts'
import { openMemoryTable } from './memoryTable.ts'

/** The tracking plans of all projects, in memory, so that a beacon queries no database. */
export interface TrackingPlanRegistry {
  /** The plan of a project; undefined if it has none. */
  planOf(projectId: string): CompiledPlan | undefined
  close(): Promise<void>
}

interface ProjectPlan extends TrackingPlan {
  project_id: string
}

/** Fewer rows than for other tables, because a plan may be large. */
const pageRows = 20

const selectPlans = 'SELECT project_id, on_violation, on_unplanned, events FROM tracking_plans'

/**
 * Opens the registry like openMemoryTable. Without a copy on disk it starts empty, because storing events
 * that a plan rejects is better than refusing those of all visitors.
 */
export async function openTrackingPlans(
  postgres: Postgres,
  url: string,
  copy: { dataDir: string; keeps: boolean },
): Promise<TrackingPlanRegistry> {
  const read = async (condition: string, values: unknown[]) =>
    (await postgres.query<ProjectPlan>(`${selectPlans} WHERE ${condition}`, values)).rows
  const table = await openMemoryTable<ProjectPlan>(
    {
      url,
      name: 'tracking_plans',
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
  const compiled = new WeakMap<ProjectPlan, CompiledPlan>()
  return {
    planOf(projectId) {
      const stored = table.get(projectId)
      if (!stored) return undefined
      let plan = compiled.get(stored)
      if (!plan) {
        plan = compilePlan(stored)
        compiled.set(stored, plan)
      }
      return plan
    },
    close: () => table.close(),
  }
}
