import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { eventIdOf, idWordsAt, nextLineAt, projectIdOf, splitLines, tsMillisAt } from '../spool/lines.ts'
import { BloomFilter } from './bloomFilter.ts'

/**
 * How far a time may be from the truth and still be trusted: clocks up to a minute off are not corrected
 * (collector/ingest/row.ts), and the same again for what a correction may miss.
 */
const clockToleranceMs = 120_000
/** ClickHouse takes bound values of at most 128 KiB, as they stand in the address. */
const idsPerQuestion = 2_000

/**
 * Keeps every event single: the same event_id in the same project, sent again by whomever and whenever, is taken
 * out of a segment before it is inserted, so that no read ever has to look for doubles.
 *
 * ClickHouse knows every id (projection by_event_id), but asking for each would cost as much as the insert. So ids
 * are remembered here, and only those are asked for that may have gone by, or whose event happened before this
 * process began to remember: an event that is younger than our memory and not in it can be nowhere else. One
 * process ships for all workers of a machine.
 */
export class Deduplicator {
  readonly #clickhouse: ClickHouse
  readonly #seen: BloomFilter
  readonly #id = new Uint32Array(4)

  constructor(clickhouse: ClickHouse, now: number) {
    this.#clickhouse = clickhouse
    this.#seen = new BloomFilter(now)
  }

  /**
   * The ids of these payloads that may be stored already or occur twice; all of them are remembered. Asks nobody, so
   * it can be done while the segment before is still being inserted.
   */
  suspectsIn(payloads: readonly Buffer[]): Set<string> {
    const now = Date.now()
    const rememberedSince = this.#seen.since + clockToleranceMs
    const suspects = new Set<string>()
    for (const payload of payloads) {
      for (let start = 0; start < payload.length; start = nextLineAt(payload, start)) {
        idWordsAt(payload, start, this.#id)
        const mayBeSeen = this.#seen.add(this.#id, now)
        if (mayBeSeen || tsMillisAt(payload, start) < rememberedSince) {
          suspects.add(eventIdOf(payload.subarray(start, start + 64)))
        }
      }
    }
    return suspects
  }

  /**
   * The payloads without the lines whose event is stored already or stands earlier in them, and how many went. Every
   * segment before must be stored by now.
   */
  async takeOut(
    payloads: Buffer[],
    suspects: ReadonlySet<string>,
  ): Promise<{ payloads: Buffer[]; duplicates: number }> {
    if (suspects.size === 0) return { payloads, duplicates: 0 }
    const taken = await this.#stored([...suspects])
    let duplicates = 0
    const kept = payloads.map((payload) => {
      const lines = splitLines(payload)
      const fresh = lines.filter((line) => {
        const id = eventIdOf(line)
        if (!suspects.has(id)) return true
        const key = `${id} ${projectIdOf(line)}`
        if (taken.has(key)) return false
        taken.add(key)
        return true
      })
      duplicates += lines.length - fresh.length
      return fresh.length === lines.length ? payload : Buffer.concat(fresh)
    })
    return { payloads: kept.filter((payload) => payload.length > 0), duplicates }
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
