import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { shipTurnSeconds } from '../../platform/metrics.ts'
import {
  eventIdOf,
  idMillis,
  idWordsAt,
  nextLineAt,
  projectIdOf,
  splitLines,
  tsMillisAt,
} from '../spool/lines.ts'
import { BloomFilter, hashId } from './bloomFilter.ts'
import { recall } from './recall.ts'
import type { ShipTurns, Turn } from './turns.ts'

/**
 * How far a time may be from the truth and still be trusted: clocks up to a minute off are not corrected
 * (collector/ingest/normalize/eventRow.ts), and the same again for what a correction may miss.
 */
const clockToleranceMs = 120_000
/**
 * What was received in this time before our start is remembered, too: events that happen from now on are not asked for.
 */
const recalledMs = 2 * clockToleranceMs
/** ClickHouse takes bound values of at most 128 KiB, as they stand in the address. */
const idsPerQuestion = 2_000

/** What is known of a segment before its turn. */
export interface Look {
  /** Ids that may be stored already or occur twice: ClickHouse is to be asked for them. */
  suspects: Set<string>
  /** Of all its ids, line by line (`hashId`). */
  hashes: Uint32Array
  /** What it was compared with. */
  seen: BloomFilter
}

/**
 * Keeps every event single: the same event_id in the same project, sent again by whomever, whenever and to whichever
 * collector, is taken out of a segment before it is inserted, so that no read ever has to look for doubles.
 *
 * ClickHouse knows every id (projection by_event_id), but asking for each would cost as much as the insert. So ids
 * are remembered here, those that other collectors ship included, and those are asked for that may have gone by, or
 * whose event happened before this process began to remember: an event that is younger than our memory and not in it
 * can be nowhere else. That holds of ids made of what a pixel captured, as they hold when that was. With an id that
 * its sender chose the same event may come again hours later with the time of that try, so of those as many are asked
 * for besides as fit into one question a segment. What was stored last before is read back at first.
 *
 * Collectors ship in turns, and each tells the others of its ids before it ships them, so a turn knows of all that were
 * shipped before; what it drops, it drops because ClickHouse holds the row.
 */
export class Deduplicator {
  readonly #clickhouse: ClickHouse
  readonly #turns: ShipTurns
  readonly #now: () => number
  #seen: BloomFilter
  /** What was stored before `#seen` began is in it, or cannot be. */
  #isRecalled = false
  readonly #id = new Uint32Array(4)

  constructor(clickhouse: ClickHouse, turns: ShipTurns, now = Date.now) {
    this.#clickhouse = clickhouse
    this.#turns = turns
    this.#now = now
    this.#seen = new BloomFilter(now())
  }

  /**
   * Looks at the ids of a segment's payloads, and remembers them. Asks nobody, so it can be done while the segment
   * before is still being inserted.
   */
  look(payloads: readonly Buffer[], rows: number): Look {
    const now = this.#now()
    const seen = this.#seen
    const rememberedSince = seen.since + clockToleranceMs
    const look: Look = { suspects: new Set(), hashes: new Uint32Array(rows * 2), seen }
    let at = 0
    let chosen = 0
    for (const payload of payloads) {
      for (let start = 0; start < payload.length; start = nextLineAt(payload, start), at += 2) {
        idWordsAt(payload, start, this.#id)
        hashId(this.#id, look.hashes, at)
        const mayBeSeen = seen.add(look.hashes[at]!, look.hashes[at + 1]!, now)
        const happenedAt = tsMillisAt(payload, start)
        const isYoung = happenedAt >= rememberedSince
        const hasOneTime = Math.abs(idMillis(this.#id) - happenedAt) <= clockToleranceMs
        if (mayBeSeen || !isYoung || (!hasOneTime && chosen++ < idsPerQuestion))
          look.suspects.add(eventIdOf(payload.subarray(start, start + 64)))
      }
    }
    return look
  }

  /** Waits for our turn to ship; what other collectors shipped before it is remembered then. */
  async begin(look: Look): Promise<Turn> {
    const waited = shipTurnSeconds.startTimer()
    const turn = await this.#turns.begin(look.hashes)
    waited()
    const { learned } = turn
    // Before anything can go wrong: nobody tells it again. Whoever does not know everything begins to remember anew.
    if (learned === null) {
      this.#seen = new BloomFilter(this.#now())
      this.#isRecalled = false
    } else
      for (let at = 0; at < learned.length; at += 2)
        this.#seen.add(learned[at]!, learned[at + 1]!, this.#now())
    return turn
  }

  /**
   * The ids of a segment to ask for, those considered that other collectors shipped before this turn. Every insert of
   * the turns before must be over by now.
   */
  async suspectsIn(
    payloads: readonly Buffer[],
    look: Look,
    { learned }: Turn,
  ): Promise<ReadonlySet<string>> {
    if (!this.#isRecalled) await this.#recall()
    if (look.seen !== this.#seen) return this.look(payloads, look.hashes.length / 2).suspects
    if (learned?.length) addShipped(payloads, look, learned)
    return look.suspects
  }

  /** Gives up the turn, if we have it, and our place among those who wait for one. */
  close(): void {
    this.#turns.close()
  }

  /**
   * The payloads without the lines whose event is stored already or stands earlier in them, and those lines. Every
   * segment before must be stored by now.
   */
  async takeOut(
    payloads: Buffer[],
    suspects: ReadonlySet<string>,
  ): Promise<{ payloads: Buffer[]; duplicates: Buffer[] }> {
    if (suspects.size === 0) return { payloads, duplicates: [] }
    const taken = await this.#stored([...suspects])
    const duplicates: Buffer[] = []
    const kept = payloads.map((payload) => {
      const lines = splitLines(payload)
      const fresh = lines.filter((line) => {
        const id = eventIdOf(line)
        if (!suspects.has(id)) return true
        const key = `${id} ${projectIdOf(line)}`
        const isDuplicate = taken.has(key)
        if (isDuplicate) duplicates.push(line)
        else taken.add(key)
        return !isDuplicate
      })
      return fresh.length === lines.length ? payload : Buffer.concat(fresh)
    })
    return { payloads: kept.filter((payload) => payload.length > 0), duplicates }
  }

  /** Where it cannot be read, ClickHouse is asked for each event of the first two minutes. */
  async #recall(): Promise<void> {
    const recalled = await recall(this.#clickhouse, this.#now() - recalledMs).catch(() => null)
    if (recalled) this.#seen = recalled
    this.#isRecalled = true
  }

  /** Which of the ids are in ClickHouse, as "event_id project_id". */
  async #stored(ids: string[]): Promise<Set<string>> {
    const stored = new Set<string>()
    for (let from = 0; from < ids.length; from += idsPerQuestion) {
      const rows = await this.#clickhouse.rows<{ event_id: string; project_id: string }>({
        sql: 'SELECT event_id, project_id FROM events WHERE event_id IN {ids:Array(UUID)}',
        params: { ids: ids.slice(from, from + idsPerQuestion) },
      })
      for (const row of rows) stored.add(`${row.event_id} ${row.project_id}`)
    }
    return stored
  }
}

/** Adds to the suspects of a segment whatever of it may be among these hashes. */
function addShipped(
  payloads: readonly Buffer[],
  { hashes, suspects }: Look,
  shipped: Uint32Array,
): void {
  const starts = new Set(shipped.filter((_, at) => at % 2 === 0))
  let at = 0
  for (const payload of payloads) {
    for (let start = 0; start < payload.length; start = nextLineAt(payload, start), at += 2) {
      if (starts.has(hashes[at]!)) suspects.add(eventIdOf(payload.subarray(start, start + 64)))
    }
  }
}
