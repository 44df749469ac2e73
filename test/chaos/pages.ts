import { setTimeout as delay } from 'node:timers/promises'
import { requestBuild } from '../../collector/audiences/builds.ts'
import type { Postgres } from '../../collector/platform/postgres/pool.ts'
import { inTransaction } from '../../collector/platform/postgres/transaction.ts'
import { type Random, seededRandom } from '../../collector/platform/seededRandom.ts'
import { type Service, waitFor } from '../harness/service.ts'
import { withMortal } from './mortal.ts'
import type { ScenarioOptions } from './scenario.ts'

export interface PagesOptions extends ScenarioOptions {
  /** Of records of an audience, over all of its builds. */
  pages: number
  connections: number
  kills: number
  builds: number
  people: number
}

export interface PagesResult {
  seed: number
  kills: number
  builds: number
  /** Complete pages, and those that were left or that a kill interrupted. */
  pages: number
  brokenOff: number
  /** Distinct records delivered, counted in each build, and records in the ledger. */
  delivered: number
  charged: number
  /** Builds after which the ledger did not hold each person delivered so far exactly once. */
  wrongBuilds: number
}

const leaveChance = 0.1
const pageMax = 400
/** A service that gives no page for longer is not only being started again. */
const silenceMsMax = 150_000

/**
 * Pages through builds of an audience over several connections, and leaves some pages in the middle.
 * Meanwhile the service is killed and the audience is built again. Then it reads each build to its end and
 * compares the ledger with the delivered people. A person of an audience is charged once a day, for any
 * number of builds.
 */
export async function runPages(options: PagesOptions): Promise<PagesResult> {
  const { seed, stores, log, pages, connections, kills, builds, people } = options
  const random = seededRandom(seed)
  const result = {
    seed,
    kills,
    builds,
    pages: 0,
    brokenOff: 0,
    delivered: 0,
    charged: 0,
    wrongBuilds: 0,
  }
  return withMortal(stores, { FOOTFALL_WORKERS: '2' }, async ({ service, api, postgres, kill }) => {
    const audienceId = await api().audienceOf(
      Array.from({ length: people }, (_, n) => ({ address: `paged${n}@known.example` })),
    )
    const everybody = new Set<string>()
    for (let build = 1, killed = 0; build <= builds; build++) {
      if (build > 1) await buildAnew(postgres, audienceId)
      const reader = new Reader(service(), audienceId, random)
      const wanted = Math.ceil(pages / builds)
      const reading = Promise.all(
        Array.from({ length: connections }, () => reader.readUpTo(wanted)),
      )
      reading.catch(() => {}) // It is waited for below.
      for (const last = Math.round((kills * build) / builds); killed < last; killed++) {
        const at = ((killed + 1) / (kills + 1)) * pages - (build - 1) * wanted
        while (reader.begun < Math.min(at, wanted)) await Promise.race([delay(20), reading])
        await kill()
        log(`kill ${killed + 1}/${kills}: build ${build}, ${reader.begun} of ${wanted} pages`)
      }
      await reading
      await reader.readAll()
      for (const hem of reader.delivered) everybody.add(hem)
      // The refund of an interrupted page may arrive a moment later.
      const isEqual = async () => (await chargedOf(postgres)) === everybody.size
      await waitFor('the ledger', isEqual, 30_000).catch(() => result.wrongBuilds++)
      result.delivered += reader.delivered.size
      result.pages += reader.whole
      result.brokenOff += reader.brokenOff
    }
    result.charged = await chargedOf(postgres)
    return result
  })
}

async function buildAnew(postgres: Postgres, audienceId: string): Promise<void> {
  const buildId = await inTransaction(postgres, (client) => requestBuild(client, audienceId))
  await waitFor(
    'the build',
    async () => {
      const { rows } = await postgres.query(
        'SELECT FROM audiences WHERE audience_id = $1 AND current_build_id = $2',
        [audienceId, buildId],
      )
      return rows.length > 0
    },
    60_000,
  )
}

async function chargedOf(postgres: Postgres): Promise<number> {
  const { rows } = await postgres.query<{ records: number }>(
    "SELECT coalesce(sum(records), 0)::float8 AS records FROM ledger WHERE meter = 'audience'",
  )
  return rows[0]!.records
}

/** Reads pages of one build, from wherever pages before have ended. */
class Reader {
  readonly delivered = new Set<string>()
  begun = 0
  whole = 0
  brokenOff = 0
  readonly #cursors: (string | undefined)[] = [undefined]
  readonly #service: Service
  readonly #audienceId: string
  readonly #random: Random
  #wholeAt = Date.now()

  constructor(service: Service, audienceId: string, random: Random) {
    this.#service = service
    this.#audienceId = audienceId
    this.#random = random
  }

  /** Rejects with what went wrong where nothing else comes. */
  async readUpTo(pages: number): Promise<void> {
    while (this.begun < pages) {
      this.begun++
      const leaving = new AbortController()
      const leaves = this.#random.chance(leaveChance)
      const timer = leaves && setTimeout(() => leaving.abort(), this.#random.integer(0, 60))
      const next = await this.#page(
        this.#random.pick(this.#cursors),
        this.#random.integer(1, pageMax),
        leaving.signal,
      ).catch((error: Error) => {
        if (Date.now() - this.#wholeAt > silenceMsMax) throw error
        return null
      })
      if (timer) clearTimeout(timer)
      if (next === null) {
        this.brokenOff++
        // Where a service is away nothing was asked.
        if (!leaves) this.begun--
        // As clients do then.
        await delay(50)
      } else if (next !== undefined) this.#cursors.push(next)
    }
  }

  /** From the first record to the last one. */
  async readAll(): Promise<void> {
    let cursor: string | undefined
    do cursor = await this.#page(cursor, pageMax)
    while (cursor !== undefined)
  }

  /** The cursor of the page after it. */
  async #page(
    cursor: string | undefined,
    size: number,
    signal?: AbortSignal,
  ): Promise<string | undefined> {
    const { api_key, api_secret, project_id } = this.#service.demo
    const query = new URLSearchParams({
      project_id,
      page_size: String(size),
      ...(cursor && { cursor }),
    })
    const answer = await fetch(
      `${this.#service.url}/api/v1/audiences/${this.#audienceId}/records?${query}`,
      {
        headers: { 'x-api-key': api_key, 'x-api-secret': api_secret },
        ...(signal && { signal }),
      },
    )
    if (answer.status !== 200)
      throw new Error(`a page was answered ${answer.status}: ${await answer.text()}`)
    const page = (await answer.json()) as { results: { hem: string }[]; next_cursor?: string }
    for (const { hem } of page.results) this.delivered.add(hem)
    this.whole++
    this.#wholeAt = Date.now()
    return page.next_cursor
  }
}
