import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { shipTurnSeconds } from '../../platform/metrics.ts'
import type { LeaseSource, ShipLease } from '../log/eventLog.ts'
import {
  eventIdOf,
  idMillis,
  idWordsAt,
  nextLineAt,
  projectIdOf,
  splitLines,
  tsMillisAt,
} from '../spool/rowFields.ts'
import { BloomFilter, hashId, warmRecentIds } from './bloomFilter.ts'
import type { ShardPart } from './insert.ts'

/**
 * Largest error of a trusted time. Clocks up to a minute off are not corrected
 * (collector/ingest/normalize/eventRow.ts), and a correction may miss the same again.
 */
const clockToleranceMs = 120_000
/** How far back the first lease reads ids from ClickHouse, which saves queries for the events of its first minutes. */
const warmedMs = 2 * clockToleranceMs
/** Ids of one query: ClickHouse accepts bound values of at most 128 KiB, which are part of the URL. */
const idsPerQuery = 2_000

/** The ids of a segment, compared with the filter before the lease. */
export interface SegmentIds {
  /** Ids that may be stored already or occur twice, for which removeDuplicates queries ClickHouse. */
  suspects: Set<string>
  /** The hashes of all its ids, line by line (`hashId`). */
  hashes: Uint32Array
  /** The filter of the comparison; findSuspects repeats the comparison if it was replaced. */
  seen: BloomFilter
}

/** The result of removeDuplicates. */
export interface CheckedLines {
  /** The lines to insert. */
  payloads: Buffer[]
  /** Lines whose event is stored, or occurs earlier. */
  duplicates: Buffer[]
}

/**
 * Keeps every event single. An event_id that its project already has is removed from a segment before the
 * insert. This holds for any sender, time and collector, so no read has to search for duplicates.
 *
 * The shipper (shipper.ts) calls the methods in this order, for each segment:
 *
 * 1. inspectIds adds the ids to the filter. It runs before the lease, possibly while the previous segment is
 * inserted.
 * 2. acquireLease waits for the lease, and adds the ids that other collectors shipped meanwhile.
 * 3. findSuspects runs once no earlier insert runs. The first lease reads recent ids back. It returns the
 * final suspects.
 * 4. removeDuplicates queries ClickHouse for the suspects, and removes lines that it has.
 *
 * ClickHouse knows every id (projection by_event_id), but a query for each would cost as much as the insert.
 * So a Bloom filter remembers ids, also those that other collectors ship. ClickHouse is queried for suspects.
 * An id is a suspect in three cases:
 *
 * - The filter may contain it.
 * - Its event happened before the filter began to remember. A younger event that is not in the filter is new.
 * - Its sender chose it, up to one query for each segment. A pixel's ids contain the time of the event, so
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
   * Step 1: compares the ids of a segment's payloads with the filter, and adds them to it. It uses memory only, so it
   * may run while the previous segment is still being inserted.
   */
  inspectIds(payloads: readonly Buffer[], rows: number): SegmentIds {
    const now = this.#now()
    const seen = this.#seen
    const rememberedSince = seen.since + clockToleranceMs
    const hashes = new Uint32Array(rows * 2)
    const ids: SegmentIds = { suspects: new Set(), hashes, seen }
    let at = 0
    let chosenBySender = 0
    for (const payload of payloads) {
      for (let start = 0; start < payload.length; start = nextLineAt(payload, start), at += 2) {
        idWordsAt(payload, start, this.#id)
        hashId(this.#id, ids.hashes, at)
        const mayBeSeen = seen.add(ids.hashes[at]!, ids.hashes[at + 1]!, now)
        const happenedAt = tsMillisAt(payload, start)
        const isYoung = happenedAt >= rememberedSince
        const containsTime = Math.abs(idMillis(this.#id) - happenedAt) <= clockToleranceMs
        const isChecked = !containsTime && chosenBySender++ < idsPerQuery
        if (mayBeSeen || !isYoung || isChecked)
          ids.suspects.add(eventIdOf(payload.subarray(start, start + 64)))
      }
    }
    return ids
  }

  /** Step 2: waits for the lease, and adds the ids that other collectors shipped before it to the filter. */
  async acquireLease(ids: SegmentIds): Promise<ShipLease> {
    const waited = shipTurnSeconds.startTimer()
    const lease = await this.leases.acquire(ids.hashes)
    waited()
    const { idsOfOthers } = lease
    // Set at once, before anything can fail, because the next lease does not repeat these ids. If some are
    // unknown, the filter is incomplete, and a new one begins.
    if (idsOfOthers === null) {
      this.#seen = new BloomFilter(this.#now())
      this.#isWarm = false
    } else
      for (let at = 0; at < idsOfOthers.length; at += 2)
        this.#seen.add(idsOfOthers[at]!, idsOfOthers[at + 1]!, this.#now())
    return lease
  }

  /**
   * Step 3: returns the ids of a segment to look up in ClickHouse, including those that other collectors
   * shipped before this lease. No insert of an earlier lease may still run.
   */
  async findSuspects(
    payloads: readonly Buffer[],
    ids: SegmentIds,
    { idsOfOthers }: ShipLease,
  ): Promise<ReadonlySet<string>> {
    if (!this.#isWarm) await this.#warm()
    if (ids.seen !== this.#seen) return this.inspectIds(payloads, ids.hashes.length / 2).suspects
    if (idsOfOthers?.length) addSuspects(payloads, ids, idsOfOthers)
    return ids.suspects
  }

  /** Abandons a held lease, and stops waiting for one. */
  close(): void {
    this.leases.close()
  }

  /**
   * Step 4: returns a part of a segment without the lines whose event is stored already or occurs earlier in it,
   * and these lines. Every earlier segment must be stored.
   */
  async removeDuplicates(
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
        const key = `${id} ${projectIdOf(line)}`
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

  /**
   * Reads recent ids into the filter. If that fails, the shipper queries ClickHouse for each event of its
   * first minutes.
   */
  async #warm(): Promise<void> {
    const since = this.#now() - warmedMs
    const warmed = await warmRecentIds(this.#clickhouse, since).catch(() => null)
    if (warmed) this.#seen = warmed
    this.#isWarm = true
  }
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

/** Adds the ids of a segment that may be among these hashes to its suspects. */
function addSuspects(
  payloads: readonly Buffer[],
  { hashes, suspects }: SegmentIds,
  shipped: Uint32Array,
): void {
  const firstWords = new Set(shipped.filter((_, at) => at % 2 === 0))
  let at = 0
  for (const payload of payloads) {
    for (let start = 0; start < payload.length; start = nextLineAt(payload, start), at += 2) {
      if (firstWords.has(hashes[at]!)) suspects.add(eventIdOf(payload.subarray(start, start + 64)))
    }
  }
}
