import type { TrackingPlan } from '../../../schemas/trackingPlan.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { type CompiledPlan, compilePlan } from '../plan/compilePlan.ts'
import { openProjectSettings } from './projectSettings.ts'

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

export async function openTrackingPlans(
  postgres: Postgres,
  url: string,
  copy: { dataDir: string; keeps: boolean },
): Promise<TrackingPlanRegistry> {
  const plans = await openProjectSettings<ProjectPlan, CompiledPlan>(postgres, url, copy, {
    name: 'tracking_plans',
    select: (condition) =>
      `SELECT project_id, on_violation, on_unplanned, events FROM tracking_plans WHERE ${condition}`,
    pageRows,
    compile: compilePlan,
  })
  return { planOf: plans.of, close: plans.close }
}
