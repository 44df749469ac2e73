import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Columns, partQuery, type ShownMembers } from '../../../audiences/files/rowsQuery.ts'
import { saveStream } from '../../../audiences/files/saveStream.ts'
import { clickHouseFormats } from '../../../audiences/files/writeFile.ts'
import { clickhouseOf } from '../../../events/query/eventStores.ts'
import {
  type ChunkFile,
  type Destination,
  DestinationError,
  failed,
  type Outcome,
  type OutgoingRecord,
} from '../../integrations/destinations/destination.ts'
import { destinationTypes } from '../../integrations/destinations/index.ts'
import type { SendDeps } from '../exportsDeps.ts'
import { mappingOf } from '../validateExport.ts'
import type { Member, Members, Values } from './audienceMembers.ts'
import { chargeChunk, type Unfinished } from './charge.ts'
import { type DoneChunk, type Result, readSent, saveChunkState } from './progress.ts'
import type { ReadChunk } from './readAhead.ts'
import type { RunState } from './runState.ts'

interface Ready extends OutgoingRecord {
  readonly member: Member
  readonly identity: string | null
}

/**
 * Sends the next members of a run. It skips members who must not be sent and those already there, and charges
 * and sends the others. Hidden people get no outcome: no number counts them. Throws
 * DestinationError, Refused, and RowsDiffer, and then stores no outcome.
 */
export async function sendChunk(
  deps: SendDeps,
  runState: RunState,
  destination: Destination,
  { members: { members, upTo, shown }, values }: ReadChunk,
  signal: AbortSignal,
): Promise<DoneChunk> {
  const results: Result[] = []
  const visible = members.filter(({ isHidden }) => !isHidden)
  const ready = prepare(runState, visible, values, results)
  const { sent, repeated } = await withoutDuplicates(deps, runState, ready)
  const keys = sent.map(({ key }) => key)
  const charged = await chargeChunk(deps, runState, keys)
  const outcomes =
    sent.length === 0
      ? []
      : await deliver(
          deps,
          runState,
          destination,
          { sent, members: { members, upTo, shown } },
          signal,
        )
  const outcomeOf = new Map<string, Outcome>()
  sent.forEach((record, index) => {
    const outcome = outcomes[index]!
    if (record.identity !== null) outcomeOf.set(record.identity, outcome)
    results.push(resultOf(record, outcome))
  })
  for (const record of repeated) {
    const first = outcomeOf.get(record.identity!)
    // The first record with this identity was refused, so this one would be too.
    results.push(
      first && !first.exported
        ? failedResult(record.member, first.reason, false, first.failureClass)
        : duplicate(record),
    )
  }
  return { upTo, charged, results }
}

/** Returns the values of each record; a record without required values gets a result at once. */
function prepare(
  runState: RunState,
  members: readonly Member[],
  values: ReadChunk['values'],
  results: Result[],
): Ready[] {
  return members.flatMap((member) => {
    const memberValues = values?.get(member.key) ?? {}
    if (typeof memberValues === 'string') {
      results.push(failedResult(member, memberValues, false))
      return []
    }
    return [
      {
        member,
        key: member.key,
        id: member.id,
        values: memberValues,
        identity: identityOf(runState, memberValues),
      },
    ]
  })
}

/** The identity of records at the destination; null for the hem or the domain, which occur once. */
function identityOf({ outputFormat, integration }: RunState, values: Values): string | null {
  if (outputFormat === 'company_domain') return String(values.company_domain)
  const field = destinationTypes[integration.type].identityField?.(integration.settings)
  return outputFormat !== 'crm' || field === undefined
    ? null
    : String(values[field]).trim().toLowerCase()
}

async function withoutDuplicates(
  { postgres }: SendDeps,
  runState: RunState,
  ready: readonly Ready[],
): Promise<{ sent: Ready[]; repeated: Ready[] }> {
  const identities = ready.flatMap(({ identity }) => (identity === null ? [] : [identity]))
  const seen = await readSent(postgres, runState, identities)
  const [sent, repeated]: [Ready[], Ready[]] = [[], []]
  for (const record of ready) {
    if (record.identity !== null && seen.has(record.identity)) {
      repeated.push(record)
      continue
    }
    if (record.identity !== null) seen.add(record.identity)
    sent.push(record)
  }
  return { sent, repeated }
}

async function deliver(
  deps: SendDeps,
  runState: RunState,
  destination: Destination,
  { sent, members }: { sent: readonly Ready[]; members: Members },
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  try {
    const outcomes = await destination.send({
      runId: runState.runId,
      exportName: runState.exportName,
      outputFormat: runState.outputFormat,
      after: runState.doneKey,
      records: sent,
      keys: members.members.map(({ key }) => key),
      state: runState.chunkState,
      signal,
      saveState: (state) => saveChunkState(deps.postgres, runState, state),
      writeFile: () =>
        writeChunkFile(deps, runState, { members: members.shown, rows: sent.length }, signal),
    })
    if (outcomes.length !== sent.length)
      throw new Error(`${outcomes.length} outcomes for ${sent.length} records`)
    return outcomes
  } catch (error) {
    if (!(error instanceof DestinationError) || error.failureClass !== 'never') throw error
    return sent.map(() => failed('never', error.message))
  } finally {
    await rm(chunkPath(deps, runState), { force: true })
  }
}

function resultOf({ member, identity }: Ready, outcome: Outcome): Result {
  if (outcome.exported) {
    return {
      ...placeOf(member),
      outcome: 'exported',
      isCharged: true,
      identity,
      remoteId: outcome.remoteId,
    }
  }
  return failedResult(member, outcome.reason, true, outcome.failureClass)
}

const duplicate = ({ member }: Ready): Result => ({
  ...placeOf(member),
  outcome: 'duplicated',
  isCharged: false,
  reason: 'The destination cannot distinguish it from another record of this run, which was sent.',
})

const failedResult = (
  member: Member,
  reason: string,
  isCharged: boolean,
  failureClass: Result['failureClass'] = 'never',
): Result => ({ ...placeOf(member), outcome: 'failed', reason, failureClass, isCharged })

const placeOf = ({ key, id }: Member) => ({ key, id })

/** Returns the outcomes of members after a run was stopped; some of them may have been charged. */
export const refuseChunk = (
  { members, upTo }: Members,
  { reason, failureClass }: NonNullable<RunState['stop']>,
  { charged, keys }: Unfinished,
  received: ReadonlySet<number>,
): DoneChunk => ({
  upTo,
  charged,
  results: members.flatMap((member): Result[] => {
    if (received.has(member.key))
      return [{ ...placeOf(member), outcome: 'exported', isCharged: true }]
    const isCharged = keys.has(member.key)
    return member.isHidden && !isCharged
      ? []
      : [failedResult(member, reason, isCharged, failureClass)]
  }),
})

const settings = { max_memory_usage: 1024 ** 3, max_execution_time: 300 }

const chunkPath = ({ temporaryDirectory }: SendDeps, { runId }: RunState): string =>
  join(temporaryDirectory, `export-${runId}`)

/** Writes the members of a chunk to a local file through ClickHouse. Throws RowsDiffer. */
async function writeChunkFile(
  deps: SendDeps,
  runState: RunState,
  { members, rows }: { members: ShownMembers; rows: number },
  signal: AbortSignal,
): Promise<ChunkFile> {
  const { outputFormat } = runState
  const columns: Columns | undefined =
    outputFormat === 'hem'
      ? { hem: 'hem' }
      : (mappingOf(runState.integration, outputFormat, runState.mapping) ?? undefined)
  const format =
    clickHouseFormats[
      outputFormat === 'hem' ? 'csv' : (outputFormat as 'csv' | 'ndjson' | 'parquet')
    ]
  const clickhouse = clickhouseOf(deps, runState.organizationId)
  const result = await clickhouse.stream(
    partQuery(members, columns ? { columns } : {}),
    format,
    signal,
    settings,
  )
  const path = chunkPath(deps, runState)
  return {
    path,
    ...(await saveStream(result, path, { name: `the file of run ${runState.runId}`, rows })),
  }
}
