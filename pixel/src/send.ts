import type { BeaconReceipt } from '../../schemas/beacon.ts'
import { decide, isDecided, level } from './consent.ts'
import { settle } from './events/page_view.ts'
import { readScroll } from './events/scroll_depth.ts'
import { attempt, json } from './guard.ts'
import { id, keepId, readId, uuid } from './identity.ts'
import { encode, putBack, queue, unpark } from './queue.ts'

/** Beside the script, under whatever path it is served. Script optimisers inline it: then none is current. */
const collector = new URL(
  config.endpoint,
  (document.currentScript as HTMLScriptElement | null)?.src || config.scriptUrl,
)

/** Events of one moment share a request: a click and what it led to. */
const batchMs = 600
/** The wait after two requests that nobody answered, as where the page's policy blocks the collector: the next page. */
const untilNextPage = 2e9
/** Whether a batch was refused: nobody said so, or the collector did. */
const [untold, told] = [1, 2]
/** Browsers let 64 KiB leave a page that closes: so many characters are less, whatever they are. */
const bodyCharsMax = 20_000
/** The wait before the next request: more than batchMs since the collector last refused one. */
let waitMs = batchMs
let timer: ReturnType<typeof setTimeout> | undefined
/** In the timer's place while a request is under way. */
const sending = -1 as never
/** The page is hidden or on its way out: nothing may wait. */
let isLeaving = false

/** Sends before long. */
export const schedule = (): void => {
  timer =
    timer ||
    (isLeaving ? (queueMicrotask as (work: () => void) => undefined)(flush) : setTimeout(flush, waitMs))
}

/** What few pages need, from beside the script; a page where it is blocked goes on without. */
export const load = (
  name: 'debug' | 'frustration' | 'identify',
  argument?: object,
): Promise<object | undefined> =>
  import(new URL(`p/${name}.js`, collector) as unknown as string)
    .then((chunk) => chunk.default(argument))
    .catch(() => {})

/** Sends what waits; by beacon, which outlives the page, when that is leaving. */
export const flush = async (): Promise<void> => {
  timer = clearTimeout(timer) as undefined
  // What a leaving page parks is the next page's to send.
  if (!isLeaving) {
    // Safari has no requestIdleCallback; Chromium may never call back without a timeout.
    await new Promise((resolve) =>
      (window.requestIdleCallback || setTimeout)(resolve, { timeout: 300 } as never),
    )
    // For who looks for a fault: shows every event and what became of it (chunks/debug.ts). Awaited, to miss none.
    await attempt(
      () =>
        /footfall_debug/.test((location as unknown as string) + Object.keys(localStorage)) && load('debug'),
    )
    unpark()
  }
  if (!isDecided) decide()
  if (level < 2) return
  encode()
  if (!queue[0]) return
  if (level > 2) keepId(readId() || uuid())
  let size = 500
  let body: string
  do {
    body = json({
      pixel_id: config.pixelId,
      // Null: no consent.
      cookie_id: id || null,
      sent_at: new Date().toISOString(),
      events: queue.slice(0, size),
    })
  } while (body.length > bodyCharsMax && (size >>= 1))
  const batch = queue.splice(0, size || 1)
  // Unless an answer says otherwise: offline, blocked, over the browser's budget, or someone patched fetch.
  let refused: number | boolean = untold
  try {
    if (isLeaving) {
      // No answer will come. Where none is likely to arrive, the next page sends it again.
      refused = !navigator.sendBeacon(collector, body) || waitMs > batchMs || !navigator.onLine
    } else {
      // One at a time: the requests that may outlive a page carry 64 KiB in all.
      timer = sending
      const answer = await fetch(collector, {
        method: 'POST',
        body,
        keepalive: size > 0,
        credentials: 'include',
      })
      refused = answer.status > 428 && told
      // An answer of another kind names none. Consent may end while it arrives.
      const { cookie_id } = (await answer.json()) as BeaconReceipt
      if (level > 2) keepId(cookie_id || id)
    }
  } catch {}
  if (refused) putBack(batch)
  timer = undefined
  waitMs = !refused ? batchMs : refused === told || waitMs === batchMs ? waitMs * 2 : untilNextPage
  if (!(isLeaving && refused)) schedule()
}

/** The page leaves, or it or its connection is back: then what waits goes at once. */
export const leave = ({ type }: Event): void => {
  settle()
  readScroll(document.URL)
  unpark()
  isLeaving = type === 'pagehide' || document.hidden
  if (!isLeaving) waitMs = batchMs
  flush()
}
