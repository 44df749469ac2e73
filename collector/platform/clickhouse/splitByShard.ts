import type { ClickHouse } from './client.ts'
import type { Placement } from './placement.ts'

/** Lines of events for one shard. */
export interface ShardLines {
  /** Its number, from 0. */
  readonly place: number
  readonly shard: ClickHouse
  readonly lines: Buffer[]
}

/** Lines for each shard, and the version of the placement (placement.ts) that they belong to. */
export interface SplitLines {
  readonly parts: ShardLines[]
  readonly version: number | null
}

/**
 * Splits lines of events by the shards of their pixels, without copying. Throws what `Placement.placesForInsert`
 * throws.
 */
export async function splitByShard(
  { placement, shards }: { placement: Placement; shards: readonly ClickHouse[] },
  ...payloads: readonly Buffer[]
): Promise<SplitLines> {
  const pixelIds = new Set<string>()
  for (const payload of payloads)
    for (const from of linesOf(payload)) pixelIds.add(pixelIdAt(payload, from))
  const { version, places } = await placement.placesForInsert([...pixelIds])
  const ofShards = new Map<number, Buffer[]>()
  for (const payload of payloads) {
    for (const { run, place } of runsOf(payload, places)) {
      const known = ofShards.get(place)
      if (known) known.push(run)
      else ofShards.set(place, [run])
    }
  }
  const parts = [...ofShards].map(([place, lines]) => ({ place, shard: shards[place]!, lines }))
  return { parts, version }
}

/** Yields adjacent lines that belong to the same shard. */
function* runsOf(
  payload: Buffer,
  places: ReadonlyMap<string, number>,
): Generator<{ run: Buffer; place: number }> {
  let start = 0
  let current: number | undefined
  for (const from of linesOf(payload)) {
    const place = places.get(pixelIdAt(payload, from))!
    if (current !== undefined && place !== current) {
      yield { run: payload.subarray(start, from), place: current }
      start = from
    }
    current = place
  }
  if (current !== undefined) yield { run: payload.subarray(start), place: current }
}

const newline = 0x0a

/** Yields the start of each line. */
function* linesOf(payload: Buffer): Generator<number> {
  for (let from = 0; from < payload.length; ) {
    yield from
    const end = payload.indexOf(newline, from)
    from = end === -1 ? payload.length : end + 1
  }
}

const pixelMember = '"pixel_id":"'

/**
 * Reads the pixel_id of the JSON line at `from`. The member precedes event_data, and no text before it can contain this
 * key with unescaped quotation marks.
 */
function pixelIdAt(payload: Buffer, from: number): string {
  const at = payload.indexOf(pixelMember, from) + pixelMember.length
  return payload.toString('latin1', at, at + 36)
}
