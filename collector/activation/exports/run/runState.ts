import { meterOf } from '../../../audiences/builds.ts'
import type { Meter } from '../../../billing/meters.ts'
import type { Queryable } from '../../../platform/postgres/transaction.ts'
import type {
  FailureClass,
  IntegrationType,
  OutputFormat,
} from '../../integrations/destinations/destination.ts'
import { unfinished } from '../exportRuns.ts'
import type { Entity, Mapping } from '../validateExport.ts'

export interface RunState {
  readonly runId: string
  readonly exportId: string
  readonly exportName: string
  readonly organizationId: string
  readonly projectId: string
  readonly retryOf: string | null
  readonly buildId: string
  /** The status of the build; a list is read when it is sent. */
  readonly buildStatus: 'pending' | 'unloading' | 'completed' | 'failed'
  /** Whether the retention of the build's members was already extended. */
  readonly isBuildKept: boolean
  /** Number of members of the build: their keys are 1 to this. */
  readonly buildCount: number
  readonly entity: Entity
  readonly meter: Meter
  readonly outputFormat: OutputFormat
  readonly mapping: Mapping | null
  readonly integration: {
    readonly id: string
    readonly type: IntegrationType
    readonly settings: Record<string, unknown>
    readonly sealedSecrets: string
  }
  readonly isStarted: boolean
  readonly recordsExported: number
  readonly recordsCharged: number
  readonly doneKey: number
  readonly attempts: number
  readonly chunkState: unknown
  /** Whether the chunk after `doneKey` may have reached the destination. */
  readonly isChunkSent: boolean
  /** The reason why the run was stopped; null: continue. */
  readonly stop: { readonly reason: string; readonly failureClass: FailureClass } | null
  readonly requestedAt: Date
  readonly requestedBy: string
  readonly isProjectKey: boolean
  /** The request that the charges belong to; null: a schedule requested the run. */
  readonly requestId: string | null
}

/** Reads a run that is due and has records without an outcome; otherwise undefined. */
export async function readRunState(
  client: Queryable,
  runId: string,
): Promise<RunState | undefined> {
  const { rows } = await client.query<Row>(
    `SELECT run.run_id, run.export_id, exports.name, organization_id, exports.project_id, retry_of, run.build_id,
       audience_builds.status AS build_status, coalesce(audience_builds.count, 0)::float8 AS build_count,
       coalesce(members_kept AND members_kept_until > now() + interval '6 days', false) AS is_build_kept,
       audiences.entity, is_predictive, run.output_format, run.mapping,
       integration_id, type, settings, sealed_secrets, started_at, records_exported::float8 AS records_exported,
       records_charged::float8 AS records_charged,
       done_key::float8 AS done_key, attempts, chunk_state, chunk_sent, stop_reason, stop_class, run.requested_at,
       requested_by, is_project_key, request_id
     FROM export_runs AS run JOIN exports USING (export_id) JOIN integrations USING (integration_id)
       JOIN projects ON projects.project_id = exports.project_id
       JOIN audience_builds ON audience_builds.build_id = run.build_id
       JOIN audiences ON audiences.audience_id = audience_builds.audience_id
     WHERE run_id = $1 AND run.status IN ${unfinished}
       AND (stop_reason IS NOT NULL OR coalesce(resumes_at, '-infinity') <= now())`,
    [runId],
  )
  const row = rows[0]
  if (!row) return undefined
  const scope = { organizationId: row.organization_id, projectId: row.project_id }
  return {
    runId: row.run_id,
    exportId: row.export_id,
    exportName: row.name,
    ...scope,
    retryOf: row.retry_of,
    buildId: row.build_id,
    buildCount: row.build_count,
    buildStatus: row.build_status,
    isBuildKept: row.is_build_kept,
    entity: row.entity,
    meter: meterOf(row.is_predictive),
    outputFormat: row.output_format,
    mapping: row.mapping,
    integration: {
      id: row.integration_id,
      type: row.type,
      settings: row.settings,
      sealedSecrets: row.sealed_secrets,
    },
    isStarted: row.started_at !== null,
    recordsExported: row.records_exported,
    recordsCharged: row.records_charged,
    doneKey: row.done_key,
    attempts: row.attempts,
    chunkState: row.chunk_state,
    isChunkSent: row.chunk_sent,
    stop:
      row.stop_reason === null ? null : { reason: row.stop_reason, failureClass: row.stop_class! },
    requestedAt: row.requested_at,
    requestedBy: row.requested_by,
    isProjectKey: row.is_project_key,
    requestId: row.request_id,
  }
}

interface Row {
  run_id: string
  export_id: string
  name: string
  organization_id: string
  project_id: string
  retry_of: string | null
  build_id: string
  build_status: RunState['buildStatus']
  build_count: number
  is_build_kept: boolean
  entity: Entity
  is_predictive: boolean
  output_format: OutputFormat
  mapping: Mapping | null
  integration_id: string
  type: IntegrationType
  settings: Record<string, unknown>
  sealed_secrets: string
  started_at: Date | null
  records_exported: number
  records_charged: number
  done_key: number
  attempts: number
  chunk_state: unknown
  chunk_sent: boolean
  stop_reason: string | null
  stop_class: FailureClass | null
  requested_at: Date
  requested_by: string
  is_project_key: boolean
  request_id: string | null
}
