import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { projectIdAt } from '../../platform/clickhouse/shards.ts'
import { shipLeaseSeconds } from '../../platform/metrics.ts'
import { uncorrectedClockMs } from '../normalize/eventRow.ts'
import {
  eventIdOf,
  idMillis,
  idWordsAt,
  nextLineAt,
  splitLines,
  tsMillisAt,
} from '../spool/rowFields.ts'
import { BloomFilter, hashId, warmRecentIds } from './bloomFilter.ts'
import type { ShardPart } from './insert.ts'
import type { LeaseSource, ShipLease } from './shipLeases.ts'

/** Largest error of a trusted time: a small error is not corrected, and a correction may miss the same again. */
const clockErrorMsMax = 2 * uncorrectedClockMs
/** How far back the first lease reads ids from ClickHouse, which saves queries for the events of its first minutes. */
const warmedMs = 2 * clockErrorMsMax
/** Ids of one query: ClickHouse accepts bound values of at most 128 KiB, which are part of the URL. */
const idsPerQuery = 2_000

/** The lines of a part of a batch, after removeFrom. */
interface CheckedLines {
  payloads: Buffer[]
  /** Lines whose event is stored, or occurs earlier. */
  duplicates: Buffer[]
}

export interface BatchIds {
  /** Ids that may be stored already or occur twice. */
  readonly suspects: ReadonlySet<string>
  /** Waits for the lease, and adds the ids that other collectors shipped before it to the filter. */
  acquireLease(): Promise<LeasedBatch>
}

export interface LeasedBatch {
  readonly lease: ShipLease
  /** Completes the suspects with ids that other collectors shipped. No insert of an earlier lease may run any more. */
  findSuspects(): Promise<Suspects>
}

/** The ids of a batch for which ClickHouse is queried. */
export interface Suspects {
  /**
   * Returns the lines of a part of the batch without those whose event is stored already or occurs earlier in it. Every
   * earlier batch must be stored.
   */
  removeFrom(part: Pick<ShardPart, 'clickhouse' | 'table' | 'payloads'>): Promise<CheckedLines>
}

/**
 * Keeps every event single. An event_id that its project already has is removed from a batch before the insert. This
 * holds for any sender, time and collector, so no read has to search for duplicates.
 *
 * Each step returns the object of the next one:
 *
 *   inspectIds ▶ BatchIds.acquireLease ▶ LeasedBatch.findSuspects ▶ Suspects.removeFrom
 *
 * ClickHouse knows every id (projection by_event_id), but a query for each would cost as much as the insert.
 * So a Bloom filter remembers ids, also those that other collectors ship. ClickHouse is queried for suspects.
 * An id is a suspect in three cases:
 *
 * - The filter may contain it.
 * - Its event happened before the filter began to remember. A younger event that is not in the filter is new.
 * - Its sender chose it, up to one query for each batch. A pixel's ids contain the time of the event, so
 * they cannot return with another time. A server may repeat its event hours later, with the time of the new
 * try.
 *
 * Collectors ship one after another, under a lease. Each publishes its ids before it ships them, so the
 * holder knows all ids that were shipped before. A line is only removed because ClickHouse has its row.
 */
export class Deduplicator {
  readonly #clickhouse: ClickHouse
  /** Grants the leases under which events are inserted. */
  readonly leases: LeaseSource
  readonly #now: () => number
  #seen: BloomFilter
  /** Whether ids from before `#seen` began were read into it, or cannot be read. */
  #isWarm = false
  readonly #id = new Uint32Array(4)

  constructor(clickhouse: ClickHouse, leases: LeaseSource, now = Date.now) {
    this.#clickhouse = clickhouse
    this.leases = leases
    this.#now = now
    this.#seen = new BloomFilter(now())
  }

  /**
   * Compares the ids of a batch's payloads with the filter, and adds them to it. It uses memory only, so it may run while
   * the previous batch is still being inserted.
   */
  inspectIds(payloads: readonly Buffer[], rows: number): BatchIds {
    const inspected = this.#inspect(payloads, rows)
    return {
      suspects: inspected.suspects,
      acquireLease: async () => {
        const waited = shipLeaseSeconds.startTimer()
        const lease = await this.leases.acquire(inspected.hashes)
        waited()
        // At once, before anything can fail, because the next lease does not repeat these ids.
        this.#learn(lease.idsOfOthers)
        return { lease, findSuspects: () => this.#findSuspects(payloads, inspected, lease) }
      },
    }
  }

  /** Abandons a held lease, and stops waiting for one. */
  close(): void {
    this.leases.close()
  }

  #inspect(payloads: readonly Buffer[], rows: number): InspectedIds {
    const now = this.#now()
    const seen = this.#seen
    const rememberedSince = seen.since + clockErrorMsMax
    const hashes = new Uint32Array(rows * 2)
    const suspects = new Set<string>()
    let at = 0
    let chosenBySender = 0
    for (const payload of payloads) {
      for (let start = 0; start < payload.length; start = nextLineAt(payload, start), at += 2) {
        idWordsAt(payload, start, this.#id)
        hashId(this.#id, hashes, at)
        const mayBeSeen = seen.add(hashes[at]!, hashes[at + 1]!, now)
        const happenedAt = tsMillisAt(payload, start)
        const isYoung = happenedAt >= rememberedSince
        const containsTime = Math.abs(idMillis(this.#id) - happenedAt) <= clockErrorMsMax
        const isChecked = !containsTime && chosenBySender++ < idsPerQuery
        if (mayBeSeen || !isYoung || isChecked)
          suspects.add(eventIdOf(payload.subarray(start, start + 64)))
      }
    }
    return { suspects, hashes, seen }
  }

  /** Adds ids of other collectors to the filter. If some are unknown (null), it is incomplete, and a new one begins. */
  #learn(idsOfOthers: Uint32Array | null): void {
    if (idsOfOthers === null) {
      this.#seen = new BloomFilter(this.#now())
      this.#isWarm = false
    } else
      for (let at = 0; at < idsOfOthers.length; at += 2)
        this.#seen.add(idsOfOthers[at]!, idsOfOthers[at + 1]!, this.#now())
  }

  async #findSuspects(
    payloads: readonly Buffer[],
    { suspects, hashes, seen }: InspectedIds,
    { idsOfOthers }: ShipLease,
  ): Promise<Suspects> {
    if (!this.#isWarm) await this.#warm()
    const all =
      seen === this.#seen
        ? new Set([...suspects, ...idsAmong(payloads, hashes, idsOfOthers)])
        : this.#inspect(payloads, hashes.length / 2).suspects
    return { removeFrom: (part) => removeDuplicates(part, all) }
  }

  /** If this fails, the shipper queries ClickHouse for each event of its first minutes. */
  async #warm(): Promise<void> {
    const since = this.#now() - warmedMs
    const warmed = await warmRecentIds(this.#clickhouse, since).catch(() => null)
    if (warmed) this.#seen = warmed
    this.#isWarm = true
  }
}

interface InspectedIds {
  readonly suspects: ReadonlySet<string>
  /** The hashes of all ids, line by line (`hashId`). */
  readonly hashes: Uint32Array
  /** The filter of the comparison, which is repeated if another filter replaced it. */
  readonly seen: BloomFilter
}

async function removeDuplicates(
  part: Pick<ShardPart, 'clickhouse' | 'table' | 'payloads'>,
  suspects: ReadonlySet<string>,
): Promise<CheckedLines> {
  const { payloads } = part
  const lines = suspects.size === 0 ? [] : payloads.map(splitLines)
  const candidates = new Set(
    lines
      .flat()
      .map(eventIdOf)
      .filter((id) => suspects.has(id)),
  )
  if (candidates.size === 0) return { payloads, duplicates: [] }
  const stored = await storedIds(part, [...candidates])
  const duplicates: Buffer[] = []
  const remaining = lines.map((ofPayload, index) => {
    const fresh = ofPayload.filter((line) => {
      const id = eventIdOf(line)
      if (!candidates.has(id)) return true
      const key = `${id} ${projectIdAt(line, 0)}`
      if (stored.has(key)) {
        duplicates.push(line)
        return false
      }
      stored.add(key)
      return true
    })
    return fresh.length === ofPayload.length ? payloads[index]! : Buffer.concat(fresh)
  })
  return { payloads: remaining.filter((payload) => payload.length > 0), duplicates }
}

/** Returns which of the ids a server has, as "event_id project_id". */
async function storedIds(
  { clickhouse, table }: Pick<ShardPart, 'clickhouse' | 'table'>,
  ids: readonly string[],
): Promise<Set<string>> {
  const stored = new Set<string>()
  for (let from = 0; from < ids.length; from += idsPerQuery) {
    const rows = await clickhouse.rows<{ event_id: string; project_id: string }>({
      sql: `SELECT event_id, project_id FROM ${table} WHERE event_id IN {ids:Array(UUID)}`,
      params: { ids: ids.slice(from, from + idsPerQuery) },
    })
    for (const row of rows) stored.add(`${row.event_id} ${row.project_id}`)
  }
  return stored
}

/** Yields the ids of a batch that may be among these hashes. */
function* idsAmong(
  payloads: readonly Buffer[],
  hashes: Uint32Array,
  shipped: Uint32Array | null,
): Generator<string> {
  if (!shipped?.length) return
  const firstWords = new Set(shipped.filter((_, at) => at % 2 === 0))
  let at = 0
  for (const payload of payloads) {
    for (let start = 0; start < payload.length; start = nextLineAt(payload, start), at += 2) {
      if (firstWords.has(hashes[at]!)) yield eventIdOf(payload.subarray(start, start + 64))
    }
  }
}
