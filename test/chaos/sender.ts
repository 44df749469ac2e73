import { randomUUID } from 'node:crypto'
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../collector/platform/seededRandom.ts'
import type { BeaconReceipt } from '../../schemas/beacon.ts'
import { Connection } from './connection.ts'

export interface SenderOptions {
  /** http://127.0.0.1:PORT; stays the same when the service is started again. */
  url: string
  /** Each browser is on the site of one of them. */
  pixelIds: readonly string[]
  random: Random
  /** Events made a second, however the service does. */
  rate: number
  /** Browsers, each with one connection, one request at a time and its own clock. */
  connections: number
  /** Events in a beacon while everything goes well; what waited goes in larger ones. */
  eventsPerBeacon?: number
  /** Share of the answers that are taken for lost: their events are sent again although acknowledged. */
  lostAnswers?: number
}

/** An event on its way; its timestamp never changes, whatever beacon carries it. */
interface Pending {
  n: number
  timestamp: string
}

interface Browser {
  connection: Connection
  pixelId: string
  cookieId: string
  /** How far its clock is off: every other time it sends. */
  skewMs: number
  queue: Pending[]
}

const makeEveryMs = 10
const beaconEventsMax = 50
const retryMs = { least: 50, most: 500 }
const repeatMs = { least: 0, most: 5_000 }
const hourMs = 3_600_000

/**
 * Sends numbered events at a steady rate as pixels do. Every unacknowledged event is sent again, with the
 * same event_id and event_data and a new sent_at. Every fourth browser has a clock two hours slow, so a retry
 * of its events is corrected to another time.
 */
export class Sender {
  /** What all event ids of this sender begin with; the rest is the number. */
  readonly idPrefix: string
  readonly run = randomUUID()
  readonly startedAt = Date.now()
  made = 0
  acknowledged = 0
  /** Events sent again because their beacon was not answered with 200. */
  retried = 0
  /** Events sent again although acknowledged. */
  repeated = 0
  /** Beacons by what came back: a status, with its `error` when it is none of 2xx, or the connection's failure. */
  readonly answers = new Map<string, number>()
  /** 503 answers without a Retry-After header. */
  withoutRetryAfter = 0
  /** Time from sending to acknowledgement, microseconds; reset it to begin a new interval. */
  readonly ackMicros: RecordableHistogram = createHistogram()
  /** Longest time in which events waited and none was acknowledged. */
  longestSilenceMs = 0

  readonly #options: Required<SenderOptions>
  readonly #browsers: Browser[]
  readonly #running: Promise<void>[] = []
  #isAcknowledged = new Uint8Array(65_536)
  #silentSince = Date.now()
  #repeatsUnderWay = 0
  #stopped = false

  constructor(options: SenderOptions) {
    this.#options = { eventsPerBeacon: 1, lostAnswers: 0, ...options }
    this.idPrefix = randomUUID().slice(0, 24)
    this.#browsers = Array.from({ length: options.connections }, (_, index) => ({
      connection: new Connection(options.url),
      pixelId: options.pixelIds[index % options.pixelIds.length]!,
      cookieId: randomUUID(),
      skewMs: index % 4 === 3 ? -2 * hourMs : 0,
      queue: [],
    }))
    this.#running = [this.#make(), ...this.#browsers.map((browser) => this.#send(browser))]
  }

  /** Events made and not yet acknowledged. */
  get waiting(): number {
    return this.made - this.acknowledged
  }

  isAcknowledged(n: number): boolean {
    return this.#isAcknowledged[n] === 1
  }

  /** Makes no more events; resolves when every one was acknowledged. Rejects when nothing is for `silenceMs`. */
  async stop(silenceMs = 120_000): Promise<void> {
    this.#stopped = true
    this.#silentSince = Date.now()
    const silence = new AbortController()
    await Promise.race([
      Promise.all(this.#running),
      this.#failAfterSilence(silenceMs, silence.signal),
    ])
    silence.abort()
    for (const { connection } of this.#browsers) connection.close()
  }

  async #failAfterSilence(silenceMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(250)
      if (Date.now() - this.#silentSince < silenceMs) continue
      throw new Error(
        `${this.waiting} events are not acknowledged: ${JSON.stringify(Object.fromEntries(this.answers))}`,
      )
    }
  }

  async #make(): Promise<void> {
    const { rate, eventsPerBeacon } = this.#options
    for (let turn = 0; !this.#stopped; ) {
      const due = ((Date.now() - this.startedAt) / 1000) * rate
      for (; this.made + eventsPerBeacon <= due; turn++) {
        if (this.waiting === 0) this.#silentSince = Date.now()
        const { queue, skewMs } = this.#browsers[turn % this.#browsers.length]!
        const timestamp = new Date(Date.now() + skewMs).toISOString()
        for (let i = 0; i < eventsPerBeacon; i++) queue.push({ n: this.made++, timestamp })
      }
      await delay(makeEveryMs)
    }
  }

  async #send(browser: Browser): Promise<void> {
    const { random, lostAnswers } = this.#options
    while (!this.#stopped || browser.queue.length > 0 || this.#repeatsUnderWay > 0) {
      const events = browser.queue.splice(0, beaconEventsMax)
      if (events.length === 0) {
        await delay(makeEveryMs / 2)
        continue
      }
      if (await this.#post(browser, events)) {
        if (random.chance(lostAnswers)) this.#repeat(browser, events)
      } else {
        this.retried += events.length
        browser.queue.unshift(...events)
        await delay(random.integer(retryMs.least, retryMs.most))
      }
    }
  }

  /** True when the events are acknowledged. */
  async #post(browser: Browser, events: readonly Pending[]): Promise<boolean> {
    const body = JSON.stringify({
      pixel_id: browser.pixelId,
      cookie_id: browser.cookieId,
      sent_at: new Date(Date.now() + browser.skewMs).toISOString(),
      events: events.map((event) => this.#eventOf(event)),
    })
    const sentAt = performance.now()
    try {
      const answer = await browser.connection.post('/e', body)
      if (answer.status === 200) {
        this.ackMicros.record(Math.max(1, Math.round((performance.now() - sentAt) * 1000)))
        const { accepted, rejected } = JSON.parse(answer.body) as BeaconReceipt
        if (accepted !== events.length) throw new Error(`rejected ${JSON.stringify(rejected[0])}`)
        this.#count('200')
        this.#acknowledge(events)
        return true
      }
      if (answer.status === 503 && answer.headers['retry-after'] === undefined)
        this.withoutRetryAfter++
      this.#count(`${answer.status} ${errorOf(answer.body)}`)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      this.#count(code ?? message)
    }
    return false
  }

  #eventOf({ n, timestamp }: Pending) {
    return {
      event_id: `${this.idPrefix}${n.toString(16).padStart(12, '0')}`,
      event_type: 'custom',
      event_data: {
        url: `http://shop.example/chaos/${n % 100}`,
        name: 'chaos',
        properties: { run: this.run, n },
        timestamp,
      },
    }
  }

  #acknowledge(events: readonly Pending[]): void {
    const now = Date.now()
    this.longestSilenceMs = Math.max(this.longestSilenceMs, now - this.#silentSince)
    this.#silentSince = now
    for (const { n } of events) {
      while (n >= this.#isAcknowledged.length) {
        const larger = new Uint8Array(this.#isAcknowledged.length * 2)
        larger.set(this.#isAcknowledged)
        this.#isAcknowledged = larger
      }
      if (this.#isAcknowledged[n] === 0) this.acknowledged++
      this.#isAcknowledged[n] = 1
    }
  }

  /** Sends acknowledged events again from another tab of the site, with the same clock, over a connection of its own. */
  #repeat(from: Browser, events: readonly Pending[]): void {
    const { random } = this.#options
    const tabs = this.#browsers.filter(
      ({ skewMs, pixelId }) => skewMs === from.skewMs && pixelId === from.pixelId,
    )
    const browser = random.pick(tabs)
    this.repeated += events.length
    this.#repeatsUnderWay++
    setTimeout(
      () => {
        browser.connection.close()
        browser.queue.push(...events)
        this.#repeatsUnderWay--
      },
      random.integer(repeatMs.least, repeatMs.most),
    )
  }

  #count(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1)
  }
}

function errorOf(body: string): string {
  try {
    return (JSON.parse(body) as { error?: string }).error ?? body
  } catch {
    return body.slice(0, 80)
  }
}
