import { setTimeout as delay } from 'node:timers/promises'
import { ask } from '../harness/api.ts'
import type { Service } from '../harness/service.ts'

interface FeedPage {
  rows: { event_id: string }[]
  meta: { next_cursor: string; complete_until: string }
}

const pollMs = 300
const pageRows = 10_000

/** Copies all events in the order of arrival, as a customer does: page by page, each from the cursor of the last one. */
export class Follower {
  /** How often each event came. */
  readonly times = new Map<string, number>()
  /** Up to when all that was received has been copied, epoch milliseconds. */
  completeUntil = 0
  /** It asks nothing meanwhile. */
  isPaused = false
  /** The last answer that was not a page. */
  lastFailure = 'none'
  readonly #service: Service
  readonly #running: Promise<void>
  #isStopped = false

  constructor(service: Service, startMs: number) {
    this.#service = service
    this.#running = this.#follow(startMs)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #follow(startMs: number): Promise<void> {
    let query: Record<string, string> = { order: 'received', start_ms: String(startMs) }
    while (!this.#isStopped) {
      if (this.isPaused) {
        await delay(pollMs)
        continue
      }
      const page = await this.#ask({ ...query, select: 'event_id', limit: String(pageRows) })
      if (page) {
        for (const { event_id } of page.rows)
          this.times.set(event_id, (this.times.get(event_id) ?? 0) + 1)
        query = { cursor: page.meta.next_cursor }
        if (page.rows.length < pageRows) this.completeUntil = Date.parse(page.meta.complete_until)
      }
      if (!page || page.rows.length < pageRows) await delay(pollMs)
    }
  }

  /** Undefined while there is no answer. */
  async #ask(query: Record<string, string>): Promise<FeedPage | undefined> {
    try {
      const answer = await ask(
        this.#service,
        `/api/v3/events/web_event?${new URLSearchParams(query)}`,
      )
      if (answer.ok) return (await answer.json()) as FeedPage
      this.lastFailure = `${answer.status} ${await answer.text()}`
    } catch (error) {
      this.lastFailure = (error as Error).message
    }
    return undefined
  }
}
