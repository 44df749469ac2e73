import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { partsOf } from '../../platform/clickhouse/cluster.ts'
import { idWordsAt, nextLineAt } from '../spool/rowFields.ts'
/**
 * Remembers event ids in bounded memory, so that nearly every new event can be shipped without a query to
 * ClickHouse. "No" is certain, "yes" requires the query.
 *
 * A Bloom filter in slices: when a slice is full the next begins, and when there are too many the oldest is
 * forgotten. Since `since` nothing was forgotten. An event after `since` that is not in the filter cannot
 * have been stored before. An older one requires the query.
 */
export class BloomFilter {
  readonly #sliceIds: number
  readonly #slicesMax: number
  #slices: { bits: Uint32Array; ids: number; startedAt: number }[]

  /**
   * 16 bits per id: a slice of 4 million takes 8 MB, and one new id in about 1,700 causes a needless query.
   */
  constructor(now: number, sliceIds = 4_194_304, slicesMax = 4) {
    this.#sliceIds = sliceIds
    this.#slicesMax = slicesMax
    this.#slices = [this.#newSlice(now)]
  }

  /** Epoch milliseconds from which on the filter contains every id. */
  get since(): number {
    return this.#slices[0]!.startedAt
  }

  /** Adds an id, given as its hash (`hashId`). Returns true if the filter may already contain it. */
  add(start: number, step: number, now: number): boolean {
    const maySeen = this.#slices.some(({ bits }) => holds(bits, start, step))
    if (maySeen) return true
    let slice = this.#slices.at(-1)!
    if (slice.ids >= this.#sliceIds) {
      slice = this.#newSlice(now)
      this.#slices.push(slice)
      if (this.#slices.length > this.#slicesMax) this.#slices.shift()
    }
    slice.ids++
    const { bits } = slice
    for (let probe = 0, at = start; probe < probes; probe++, at = (at + step) | 0)
      bits[(at >>> 5) & (bits.length - 1)]! |= 1 << (at & 31)
    return false
  }

  /** The number of its words is a power of two, so that a position is some bits of a hash. */
  #newSlice(startedAt: number) {
    const words = 2 ** Math.ceil(Math.log2((this.#sliceIds * bitsPerId) / 32))
    return { bits: new Uint32Array(words), ids: 0, startedAt }
  }
}

/**
 * Hashes an id, its four 32-bit words, into two words of `hashes` at `at`: the start of its probes, and their
 * step.
 */
export function hashId(id: Uint32Array, hashes: Uint32Array, at: number): void {
  const [a, b, c, d] = id as unknown as [number, number, number, number]
  hashes[at] = mix(a ^ mix(b ^ mix(c ^ mix(d))))
  hashes[at + 1] = mix(d + mix(c + mix(b + mix(a + 1)))) | 1
}

const bitsPerId = 16
/** With 16 bits per id, 11 is the optimum; 8 takes less time and causes few more needless queries. */
const probes = 8

function holds(bits: Uint32Array, start: number, step: number): boolean {
  for (let probe = 0, at = start; probe < probes; probe++, at = (at + step) | 0)
    if ((bits[(at >>> 5) & (bits.length - 1)]! & (1 << (at & 31))) === 0) return false
  return true
}

/** The finalizer of MurmurHash3, which spreads every bit over the complete word. */
function mix(word: number): number {
  let mixed = word
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** Reading more takes longer than queries for the arriving ids. A slice holds twice as many. */
const idsMax = 2_000_000
const timeoutMs = 10_000
const newline = 0x0a

/**
 * Returns a filter with the ids of all stored events received since a time, epoch milliseconds. So a new
 * shipper does not query for each id. Null if there are too many. Call it only when no earlier insert is
 * running.
 */
export async function warmRecentIds(
  clickhouse: ClickHouse,
  since: number,
): Promise<BloomFilter | null> {
  const seen = new BloomFilter(since)
  let read = 0
  for (const { shard, table } of partsOf(clickhouse, 'events')) {
    const { rows, body } = await shard.stream(
      {
        sql: `SELECT event_id FROM ${table} WHERE received_at >= fromUnixTimestamp64Milli({since:Int64})
              LIMIT {limit:UInt64}`,
        params: { since, limit: idsMax + 1 },
      },
      // Lines begin like those of a segment, so that idWordsAt can read them.
      'JSONEachRow',
      AbortSignal.timeout(timeoutMs),
    )
    read += rows
    if (read > idsMax) {
      body.destroy()
      return null
    }
    await addIds(seen, body, since)
  }
  return seen
}

async function addIds(seen: BloomFilter, body: AsyncIterable<Buffer>, since: number) {
  const id = new Uint32Array(4)
  const hash = new Uint32Array(2)
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of body) {
    const bytes: Buffer = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    const end = bytes.lastIndexOf(newline) + 1
    for (let start = 0; start < end; start = nextLineAt(bytes, start)) {
      idWordsAt(bytes, start, id)
      hashId(id, hash, 0)
      seen.add(hash[0]!, hash[1]!, since)
    }
    rest = bytes.subarray(end)
  }
}
