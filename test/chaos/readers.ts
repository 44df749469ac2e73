import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Demo } from '../../collector/ops/demo/demo.ts'
import type { Random } from '../../collector/platform/seededRandom.ts'

/**
 * Behavior of a reader. It reads the complete answer, or also repeats the request. Or it leaves in the middle
 * for good, or leaves before the answer begins and repeats the request.
 */
export const manners = ['whole', 'twice', 'leave', 'leave early'] as const
export type Manner = (typeof manners)[number]

/** One thing that a reader wants, however often it has to ask. */
export interface Wish {
  url: string
  idempotencyKey: string
  manner: Manner
  accept: string
  /** Rows that the answer has; null when the request is wrong. */
  records: number | null
}

/** Bound values of readers who leave in the middle hold this: nothing else is to break their answers off. */
export const leaverMark = 'leaver-mark'

const forms = ['application/json', 'application/x-ndjson', 'text/csv']
const limitMax = 400

/** Makes wishes about pages of `rowsStored` events between two times. */
export function wishes(
  random: Random,
  rowsStored: number,
  window: { startMs: number; endMs: number },
) {
  return (n: number): Wish => {
    const manner = random.pick<Manner>(['whole', 'whole', 'whole', 'twice', 'leave', 'leave early'])
    const isWrong = manner === 'whole' && random.chance(0.05)
    const isEmpty = !isWrong && manner === 'whole' && random.chance(0.1)
    const limit = random.integer(1, limitMax)
    const filter = isEmpty
      ? 'event_type:eq:copy'
      : `page_path:ne:/${manner === 'leave' ? leaverMark : 'other'}`
    const query = new URLSearchParams({
      start_ms: String(window.startMs),
      end_ms: String(window.endMs),
      filter,
      limit: String(isWrong ? 0 : limit),
    })
    return {
      url: `/api/v3/events/web_event?${query}`,
      idempotencyKey: `wish-${n}`,
      manner,
      accept: random.pick(forms),
      records: isWrong ? null : isEmpty ? 0 : Math.min(limit, rowsStored),
    }
  }
}

/** Result of a request, as the reader saw it. */
type Answer =
  | { kind: 'whole'; status: number; records: number }
  | { kind: 'left' }
  | { kind: 'broken' }

/** When a reader disconnects: before the answer begins, or afterwards. */
type Leave = 'before' | 'in'
const leaveOf: Partial<Record<Manner, Leave>> = { 'leave early': 'before', leave: 'in' }

const retryMs = 20
const answerTimeoutMs = 30_000
const maxEarlyMs = 8

/** Fulfils wishes over one connection, and counts what came back. */
export class Reader {
  /** Requests by what came back. */
  readonly answers = new Map<string, number>()
  /** Records delivered: of whole answers once for each wish, of those left in the middle all that were begun. */
  delivered = 0
  /** Wishes whose whole answer did not have the rows that it should have had. */
  wrong = 0
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #url: string
  readonly #headers: Record<string, string>
  readonly #random: Random

  constructor(url: string, demo: Demo, random: Random) {
    this.#url = url
    this.#headers = { 'x-api-key': demo.api_key, 'x-api-secret': demo.api_secret }
    this.#random = random
  }

  async fulfil(wish: Wish): Promise<void> {
    await this.#untilAnswered(wish, leaveOf[wish.manner])
    this.delivered += wish.records ?? 0
    if (wish.manner === 'twice') await this.#untilAnswered(wish)
  }

  /** Asks until an answer has come, leaving the first before it begins, or each in the middle. */
  async #untilAnswered(wish: Wish, leave?: Leave): Promise<void> {
    for (let tries = 0; ; tries++) {
      const answer = await this.#ask(wish, leave === 'in' || tries === 0 ? leave : undefined)
      const name = answer.kind === 'whole' ? String(answer.status) : answer.kind
      this.answers.set(name, (this.answers.get(name) ?? 0) + 1)
      if (answer.kind === 'left') return
      if (answer.kind === 'whole' && (answer.status === 200 || answer.status === 400)) {
        if (answer.records !== (wish.records ?? 0)) this.wrong++
        return
      }
      await delay(retryMs)
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #ask(wish: Wish, leave: Leave | undefined): Promise<Answer> {
    return new Promise((resolve) => {
      const asked = request(
        `${this.#url}${wish.url}`,
        {
          agent: this.#agent,
          headers: {
            ...this.#headers,
            accept: wish.accept,
            'idempotency-key': wish.idempotencyKey,
          },
        },
        (answer) => {
          answer.on('error', () => resolve({ kind: 'broken' }))
          if (leave === 'in' && answer.statusCode === 200) {
            asked.destroy()
            resolve({ kind: 'left' })
            return
          }
          let text = ''
          answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
          answer.on('end', () => {
            const status = answer.statusCode!
            const records = status === 200 ? countRows(text, wish.accept) : 0
            resolve(answer.complete ? { kind: 'whole', status, records } : { kind: 'broken' })
          })
        },
      )
      asked.setTimeout(answerTimeoutMs, () => asked.destroy())
      asked.on('error', () => resolve({ kind: 'broken' }))
      asked.end()
      if (leave === 'before') setTimeout(() => asked.destroy(), this.#random.next() * maxEarlyMs)
    })
  }
}

function countRows(text: string, accept: string): number {
  if (accept === 'application/json') return (JSON.parse(text) as { rows: unknown[] }).rows.length
  const lines = text.split('\n').filter(Boolean).length
  return accept === 'text/csv' ? lines - 1 : lines
}
