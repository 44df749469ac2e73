import { destinationTypes } from '../../integrations/destinations/index.ts'
import type { SendDeps } from '../exportsDeps.ts'
import { type Members, readMembers, type Values } from './audienceMembers.ts'
import type { RunState } from './runState.ts'
import { readValues } from './values.ts'

export interface ReadChunk {
  readonly members: Members
  /** The values of each record by key; null if a file contains them. */
  readonly values: ReadonlyMap<number, Values | string> | null
}

/** Reads the next chunk of a run: at most `limit` records without an outcome; null if there are none. */
export type ReadNext = (runState: RunState, limit: number) => Promise<ReadChunk | null>

/** Older rows are read again, because people may have opted out. */
const freshMs = 5_000

/** Reads each chunk while the previous one is charged and sent. */
export function createReadAhead(deps: SendDeps, signal: AbortSignal): ReadNext {
  let ahead: { after: number; readAt: number; chunk: Promise<ReadChunk | null> } | null = null
  const begin = (runState: RunState, limit: number) => {
    const chunk = readChunk(deps, runState, limit, signal)
    // The consumer may request the chunk later, or never.
    chunk.catch(() => {})
    ahead = { after: runState.doneKey, readAt: performance.now(), chunk }
  }
  return async (runState, limit) => {
    const isThere = ahead?.after === runState.doneKey && performance.now() - ahead.readAt < freshMs
    if (!isThere) begin(runState, limit)
    const chunk = await ahead!.chunk
    ahead = null
    if (chunk && chunk.members.upTo < runState.buildCount)
      begin({ ...runState, doneKey: chunk.members.upTo }, limit)
    return chunk
  }
}

async function readChunk(
  deps: SendDeps,
  runState: RunState,
  limit: number,
  signal: AbortSignal,
): Promise<ReadChunk | null> {
  const members = await readMembers(deps, runState, limit)
  if (!members) return null
  const visible = members.members.filter(({ isHidden }) => !isHidden)
  const { takesFiles } = destinationTypes[runState.integration.type]
  return { members, values: takesFiles ? null : await readValues(deps, runState, visible, signal) }
}
