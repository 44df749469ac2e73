import { ApiError } from '../../../api/http/errors.ts'
import { keepBuild } from '../../../audiences/builds.ts'
import { RowsDiffer } from '../../../audiences/files/saveStream.ts'
import { mailOwners } from '../../../platform/outbox/mails.ts'
import { visitorText } from '../../../platform/outbox/visitorText.ts'
import type { Postgres } from '../../../platform/postgres/pool.ts'
import { inTransaction } from '../../../platform/postgres/transaction.ts'
import { isUnavailable } from '../../../platform/storeErrors.ts'
import { type Destination, DestinationError } from '../../integrations/destinations/destination.ts'
import { destinationTypes } from '../../integrations/destinations/index.ts'
import { openDestination, type SendingLog } from '../../integrations/openDestination.ts'
import type { SendDeps } from '../exportsDeps.ts'
import { findUnknownFields } from '../validateExport.ts'
import { readMembers } from './audienceMembers.ts'
import { Refused, settleUnfinished } from './charge.ts'
import { beginRun, completeChunk, endRun, noteSent, parkRun, stopRun } from './progress.ts'
import type { ReadNext } from './readAhead.ts'
import { type RunState, readRunState } from './runState.ts'
import { refuseChunk, sendChunk } from './sendChunk.ts'

/** The tries of a chunk, with back-off, before the run is stopped. */
const attemptsMax = 8
const backoffSecondsMax = 300
/** A run that waits for its destination longer than this is stopped. */
const daysMax = 7
/** Interval at which a run checks whether its list has been read. */
const listSeconds = 1
/** How many remaining records of a stopped run get an outcome at a time; at least a chunk, whose charge is settled at once. */
const refusedAtOnce = 10_000

/** Time until a run continues; null when it has ended. */
export type Next = { readonly inSeconds: number } | null

export interface StepContext {
  readonly readNext: ReadNext
  readonly signal: AbortSignal
  /** The run after the previous step, which saves another read. */
  runState?: RunState | undefined
  /** A budget or a limit has refused a larger chunk. */
  hasLittleBudget?: boolean
}

/** Runs the next step of a run: begins it, sends one chunk, or ends it. A step is repeated after a crash. */
export async function runStep(deps: SendDeps, runId: string, context: StepContext): Promise<Next> {
  const { postgres } = deps
  const runState = context.runState ?? (await readRunState(postgres, runId))
  context.runState = undefined
  if (!runState) return null
  try {
    return await runNext(deps, runState, context)
  } catch (error) {
    return handleError(deps, runState, error)
  }
}

async function runNext(deps: SendDeps, runState: RunState, context: StepContext): Promise<Next> {
  const { postgres } = deps
  if (!runState.isBuildKept && !(await keepBuild(postgres, runState.buildId)))
    throw new Error(`the members of build ${runState.buildId} were deleted`)
  if (runState.stop) return refuse(deps, runState)
  if (runState.buildStatus === 'failed')
    throw new DestinationError('needs_action', 'The service could not read the list.')
  if (runState.buildStatus !== 'completed') return { inSeconds: listSeconds }
  if (Date.now() - runState.requestedAt.getTime() > daysMax * 86_400_000) {
    throw new DestinationError(
      'needs_action',
      `The destination did not accept all records within ${daysMax} days.`,
    )
  }
  const destination = openDestination(deps, runState.integration, sendingLog(postgres, runState))
  if (!runState.isStarted) {
    const fault = await findUnknownFields(deps, runState.integration, runState)
    if (fault !== null)
      throw new DestinationError('needs_action', `The mapping is invalid: ${fault}.`)
    await beginRun(postgres, runState)
  }
  const { leastRecords, chunkRecords } = destinationTypes[runState.integration.type]
  const recordsMax = chunkRecords(runState.outputFormat)
  const limit = context.hasLittleBudget ? (leastRecords ?? recordsMax) : recordsMax
  const chunk = await context.readNext(runState, limit)
  if (!chunk) return finish(deps, runState, destination)
  try {
    await requireDailyMax(postgres, runState, chunk.members.members.length)
    const done = await sendChunk(deps, runState, destination, chunk, context.signal)
    context.runState = await completeChunk(postgres, runState, done)
  } catch (error) {
    const isDivisible = chunk.members.members.length > (leastRecords ?? recordsMax)
    if (!(error instanceof Refused && isDivisible)) throw error
    context.hasLittleBudget = true
  }
  return { inSeconds: 0 }
}

/** Records when the chunk is sent, unless an earlier try may have sent it. */
const sendingLog = (postgres: Postgres, runState: RunState): SendingLog | undefined =>
  runState.isChunkSent
    ? undefined
    : {
        begun: () => noteSent(postgres, runState, true),
        unsent: () => noteSent(postgres, runState, false),
      }

/** Gives the next records of a stopped run its reason as their outcome. */
async function refuse(deps: SendDeps, runState: RunState): Promise<Next> {
  const type = destinationTypes[runState.integration.type]
  const chunkMax = Math.max(refusedAtOnce, type.chunkRecords(runState.outputFormat))
  const members = await readMembers(deps, runState, chunkMax)
  if (!members) {
    await endRun(deps.postgres, runState)
    return null
  }
  const keys = members.members.map(({ key }) => key)
  const unfinished = await settleUnfinished(deps, runState, keys)
  const received = type.receivedKeys?.(runState.chunkState, keys) ?? new Set()
  const done = refuseChunk(members, runState.stop!, unfinished, received)
  await completeChunk(deps.postgres, runState, done)
  return { inSeconds: 0 }
}

async function finish(
  { postgres }: SendDeps,
  runState: RunState,
  destination: Destination,
): Promise<Next> {
  const { runId, exportName, outputFormat, recordsExported } = runState
  await destination.finish?.({ runId, exportName, outputFormat, recordsExported })
  await endRun(postgres, runState)
  return null
}

/** Decides what an error means for the run: pause, stop, or, if a store is unavailable, let the queue repeat the step. */
async function handleError(
  { postgres, log }: SendDeps,
  runState: RunState,
  error: unknown,
): Promise<Next> {
  const stop = async (
    reason: string,
    failureClass: 'retry' | 'needs_action' | 'never',
  ): Promise<Next> => {
    await stopRun(postgres, runState, reason, failureClass)
    return { inSeconds: 0 }
  }
  const park = async (seconds: number, isFailure: boolean, reason: string): Promise<Next> => {
    await parkRun(postgres, runState, { seconds, isFailure, reason })
    return { inSeconds: seconds }
  }
  if (error instanceof Refused) return stop(error.message, 'needs_action')
  if (error instanceof DestinationError && error.failureClass !== 'retry') {
    return stop(error.message, error.failureClass)
  }
  if (error instanceof DestinationError && error.afterSeconds !== null)
    return park(error.afterSeconds, false, error.message)
  // A temporary fault of our own, so the queue repeats the step.
  if (isUnavailable(error) || (error instanceof ApiError && error.status === 503)) throw error
  const isTheirs = error instanceof DestinationError
  if (!isTheirs && !(error instanceof RowsDiffer))
    log.warn(
      { run_id: runState.runId, error: (error as Error).message },
      'a run of an export failed',
    )
  const reason = isTheirs
    ? error.message
    : 'The run failed because of an internal error. Contact the operator of this service.'
  if (runState.stop || runState.attempts + 1 < attemptsMax)
    return park(backoffSeconds(runState.attempts), true, reason)
  return stop(`${reason} The service tried ${attemptsMax} times.`, 'retry')
}

/** Doubles from one second, minus a random part, so that runs do not retry together. */
const backoffSeconds = (attempts: number): number =>
  Math.min(2 ** attempts, backoffSecondsMax) * (1 - Math.random() / 2)

const today = "date_trunc('day', now(), 'UTC')"

/**
 * Throws Refused if `records` more could exceed the daily maximum of an export's scheduled runs. The owners get a mail once
 * a UTC day. Runs that somebody requests are not limited.
 */
export async function requireDailyMax(
  postgres: Postgres,
  { exportId, exportName, organizationId, requestedBy }: RunState,
  records: number,
): Promise<void> {
  if (requestedBy !== exportId) return
  // The charges of today, because a run may begin before midnight.
  const { rows } = await postgres.query<{ most: number; charged: number }>(
    `SELECT daily_records_max::float8 AS most, (
       SELECT coalesce(sum(records), 0) FROM usage_by_caller
       WHERE organization_id = $2 AND day = (${today} AT TIME ZONE 'UTC')::date AND caller_id = $1)::float8 AS charged
     FROM exports WHERE export_id = $1`,
    [exportId, organizationId],
  )
  const { most, charged } = rows[0]!
  if (charged + records <= most) return
  const reason = `The scheduled runs of the export charge at most ${most} records a UTC day (daily_records_max), and have charged ${charged} today. Raise daily_records_max, or request a run.`
  await inTransaction(postgres, async (client) => {
    const { rowCount } = await client.query(
      `UPDATE exports SET daily_max_noted_on = (${today} AT TIME ZONE 'UTC')::date
       WHERE export_id = $1 AND daily_max_noted_on IS DISTINCT FROM (${today} AT TIME ZONE 'UTC')::date`,
      [exportId],
    )
    if (rowCount === 0) return
    const name = visitorText(exportName)
    await mailOwners(client, organizationId, {
      subject: 'A scheduled export reached its daily maximum',
      text: `${name ? `“${name}” (${exportId})` : exportId} stopped.\n${reason}\n`,
    })
  })
  throw new Refused(reason)
}
