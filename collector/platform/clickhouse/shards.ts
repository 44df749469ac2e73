/**
 * The table of one server's own events in a cluster with several shards. There, `events` is the Distributed table over
 * all of them.
 */
export const eventsOfShard = 'events_local'

/**
 * Returns the SQL of the sharding key: all events of a project are on the shard `key % shards`, from 0. `shardOf` is the
 * same function for rows that are not in ClickHouse yet.
 */
export const shardingKey = (projectId: string): string => `cityHash64(${projectId})`

/** Returns the shard, from 0, of a project's events. */
export const shardOf = (projectId: string, shards: number): number =>
  Number(hashOfUuid(projectId) % BigInt(shards))

const bits64 = (1n << 64n) - 1n
const multiplier = 0x9ddfea08eb382d69n
const uuidBytes = 16n

/** CityHash64 1.0.2 of 16 bytes, as ClickHouse computes it for its two words of a UUID. */
function hashOfUuid(uuid: string): bigint {
  const digits = uuid.replaceAll('-', '')
  const first = BigInt(`0x${digits.slice(0, 16)}`)
  const second = BigInt(`0x${digits.slice(16)}`)
  const sum = (second + uuidBytes) & bits64
  const rotated = (sum >> uuidBytes) | ((sum << (64n - uuidBytes)) & bits64)
  const low = mixed(first ^ rotated)
  return ((mixed(rotated ^ low) * multiplier) & bits64) ^ second
}

function mixed(word: bigint): bigint {
  const product = (word * multiplier) & bits64
  return product ^ (product >> 47n)
}

interface ShardLines {
  /** From 0. */
  readonly shard: number
  readonly payloads: Buffer[]
}

/** Splits lines of events by the shards of their projects, without copying. */
export function splitByShard(payloads: readonly Buffer[], shards: number): ShardLines[] {
  const known = new Map<string, number>()
  const shardOfLine = (payload: Buffer, from: number): number => {
    const projectId = projectIdAt(payload, from)
    const shard = known.get(projectId) ?? shardOf(projectId, shards)
    known.set(projectId, shard)
    return shard
  }
  const parts = new Map<number, Buffer[]>()
  for (const payload of payloads)
    for (const { run, shard } of runsOf(payload, shardOfLine)) {
      const part = parts.get(shard)
      if (part) part.push(run)
      else parts.set(shard, [run])
    }
  return [...parts].map(([shard, runs]) => ({ shard, payloads: runs }))
}

/** Yields adjacent lines of the same shard together. */
function* runsOf(
  payload: Buffer,
  shardOfLine: (payload: Buffer, from: number) => number,
): Generator<{ run: Buffer; shard: number }> {
  let start = 0
  let current: number | undefined
  for (const from of linesOf(payload)) {
    const shard = shardOfLine(payload, from)
    if (current !== undefined && shard !== current) {
      yield { run: payload.subarray(start, from), shard: current }
      start = from
    }
    current = shard
  }
  if (current !== undefined) yield { run: payload.subarray(start), shard: current }
}

const newline = 0x0a

function* linesOf(payload: Buffer): Generator<number> {
  for (let from = 0; from < payload.length; ) {
    yield from
    const end = payload.indexOf(newline, from)
    from = end === -1 ? payload.length : end + 1
  }
}

const projectMember = '"project_id":"'

/**
 * Returns the project_id of the JSON line at `from`. The member precedes event_data, and no text before it can contain this
 * key with unescaped quotation marks.
 */
export function projectIdAt(payload: Buffer, from: number): string {
  const at = payload.indexOf(projectMember, from) + projectMember.length
  return payload.toString('latin1', at, at + 36)
}

/** Runs `work` on a shard, from 0. If there are several, an error names the shard. */
export async function onShard<T>(
  { shards }: { readonly shards: readonly unknown[] },
  shard: number,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (shards.length > 1)
      (error as Error).message = `shard ${shard + 1} of ClickHouse: ${(error as Error).message}`
    throw error
  }
}
