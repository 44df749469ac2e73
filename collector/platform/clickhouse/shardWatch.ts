import { setTimeout as delay } from 'node:timers/promises'
import { runEvery } from '../runEvery.ts'
import { isUnavailable } from '../storeErrors.ts'
import type { ClickHouse } from './client.ts'

/** Thrown for a statement that its shard did not answer, because the shard is unavailable. */
export class ShardAway extends Error {
  /** From 0. */
  readonly shard: number

  constructor(shard: number, reason: string) {
    super(`shard ${shard + 1} of ClickHouse is unavailable: ${reason}`)
    this.shard = shard
  }
}

interface Away {
  /** Epoch milliseconds. */
  readonly since: number
  readonly reason: string
  /** A shard that answers but refuses inserts is tried again at this time, by performance.now(). */
  readonly tryAgainAt: number
}

const pingMs = 500
const answerMsMax = 5_000
/** How long a shard that refuses inserts counts as unavailable, before the next try. */
const refusalMs = 5_000

/**
 * Knows which shards answer. With several shards it pings each of them twice a second, so that no statement waits for a
 * shard that hangs.
 */
export class ShardWatch {
  readonly #shards: readonly ClickHouse[]
  readonly #away = new Map<number, Away>()
  /** Shards whose last insert was refused for a while. */
  readonly #refusing = new Set<number>()
  readonly #statements = new Map<number, Set<(away: ShardAway) => void>>()
  readonly #watching: readonly { stop(): Promise<void> }[]

  constructor(shards: readonly ClickHouse[]) {
    this.#shards = shards
    const watched = shards.length > 1 ? shards : []
    this.#watching = watched.map((_, shard) =>
      runEvery(
        pingMs,
        () => this.#ping(shard),
        () => {},
      ),
    )
  }

  /** The unavailable shards, from 0, and since when: epoch milliseconds. */
  get away(): ReadonlyMap<number, number> {
    return new Map([...this.#away].map(([shard, { since }]) => [shard, since]))
  }

  isAway(shard: number): boolean {
    return this.#away.has(shard)
  }

  /** Resolves with the result of a statement. Rejects with ShardAway if the shard is or becomes unavailable before. */
  async run<T>(shard: number, statement: () => Promise<T>): Promise<T> {
    const away = this.#away.get(shard)
    if (away) throw new ShardAway(shard, away.reason)
    const statements = this.#statements.get(shard) ?? new Set()
    this.#statements.set(shard, statements)
    let giveUp: (away: ShardAway) => void
    const unavailable = new Promise<never>((_, reject) => {
      giveUp = reject
      statements.add(reject)
    })
    try {
      return await Promise.race([statement(), unavailable])
    } catch (error) {
      if (await this.#isBecauseAway(shard, error)) throw new ShardAway(shard, messageOf(error))
      throw error
    } finally {
      statements.delete(giveUp!)
    }
  }

  /** Records that a shard refuses inserts although it answers: it counts as unavailable for some seconds. */
  refuse(shard: number, reason: string): void {
    this.#refusing.add(shard)
    this.#setAway(shard, reason, performance.now() + refusalMs)
  }

  /** Whether the shard refused inserts for a while, and has accepted none since. */
  isRefusing(shard: number): boolean {
    return this.#refusing.has(shard)
  }

  /** Records that a shard has accepted an insert. */
  accept(shard: number): void {
    this.#refusing.delete(shard)
  }

  close(): void {
    for (const watching of this.#watching) void watching.stop()
  }

  /** Whether a statement failed because its shard is unavailable: a single lost connection is no outage. */
  async #isBecauseAway(shard: number, error: unknown): Promise<boolean> {
    if (error instanceof ShardAway) return true
    if (this.#shards.length === 1 || !isUnavailable(error)) return false
    await this.#ping(shard)
    return this.isAway(shard)
  }

  async #ping(shard: number): Promise<void> {
    const answer = this.#shards[shard]!.ping().then(
      (isThere) => (isThere ? null : 'it cannot be reached'),
      messageOf,
    )
    const reason = await Promise.race([
      answer,
      delay(answerMsMax, `no answer in ${answerMsMax} ms`, { ref: false }),
    ])
    if (reason !== null) return this.#setAway(shard, reason, 0)
    const away = this.#away.get(shard)
    if (away && performance.now() >= away.tryAgainAt) this.#away.delete(shard)
  }

  #setAway(shard: number, reason: string, tryAgainAt: number): void {
    const since = this.#away.get(shard)?.since ?? Date.now()
    this.#away.set(shard, { since, reason, tryAgainAt })
    for (const giveUp of this.#statements.get(shard) ?? []) giveUp(new ShardAway(shard, reason))
  }
}

const messageOf = (error: unknown): string => (error as Error).message
