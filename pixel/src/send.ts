import type { BeaconReceipt } from '../../schemas/beacon.ts'
import { decide, isDecided, level } from './consent.ts'
import { id, keepId } from './identity.ts'
import { requeue, restoreQueue } from './queue.ts'
import { attempt, json, later } from './safe.ts'
import { type Entry, encode, queue } from './waiting.ts'

const { currentScript } = document
/**
 * The address of the collector: next to the script, under any path. Script optimisers inline it: then there
 * is no current script. An element that the page's content names like it does not count, because its address
 * for events and code could be anyone's.
 */
const collector = new URL(
  config.endpoint,
  (currentScript instanceof HTMLScriptElement && currentScript.src) || config.scriptUrl,
)

/** Events of one moment share a request: a click and its effects. */
const batchMs = 600
/** Browsers let 64 KiB leave a page that closes: so many characters are less, whatever they are. */
const bodyCharsMax = 20_000
/** The wait before the next request: more than batchMs after a refusal. */
let waitMs = batchMs
let timer: ReturnType<typeof setTimeout> | undefined
/** Replaces the timer while a request is in progress. */
const sending = -1 as never
/** Entries of the last request. */
let asked: Entry[] = []
/** The page is hidden or closes, so nothing may wait. */
let isLeaving = false

/** In idle time. Safari has no requestIdleCallback; Chromium may never call back without a timeout. */
const rest = () => (window.requestIdleCallback || later)(flush, { timeout: 300 } as never)

/** Sends soon. */
export const schedule = (): void => {
  if (isLeaving) flush()
  else timer = timer || later(rest, waitMs)
}

/** Loads code for a few pages from next to the script. If it is blocked, the pixel works without it. */
export const load = (
  name: 'capture' | 'debug' | 'frustration' | 'identify',
  argument?: object,
): Promise<object | undefined> =>
  import(new URL(`p/${name}.js`, collector) as unknown as string)
    .then((chunk) => chunk.default(argument))
    .catch(() => {})

/** Sends waiting events. If the page is closing, it uses a beacon, which outlives the page. */
export const flush = async (): Promise<void> => {
  timer = window.clearTimeout(timer) as undefined
  let batch: Entry[] = []
  // Unless an answer says otherwise: offline, blocked, over the browser's budget, or someone patched fetch. Each wait is
  // twice the one before.
  let refusedForMs: number | false = waitMs * 2
  try {
    // For debugging: shows every event and its result (chunks/debug.ts). Awaited, so that it misses none.
    if (!isLeaving)
      await attempt(
        () =>
          (/footfall_debug/.test(location.href) || localStorage.footfall_debug) && load('debug'),
      )
    // After a refusal the next request may be refused, too, when the page is closed.
    if (isLeaving && waitMs > batchMs) requeue(asked)
    restoreQueue()
    if (!isDecided) decide()
    encode()
    if (level < 2) return
    if (!queue[0]) return
    let count = 0
    for (let chars = 0; queue[count] && (chars += (queue[count] as string).length) < bodyCharsMax; )
      count++
    batch = queue.splice(0, count || 1)
    // Null: no consent. True: the page granted it, where the settings wait for it.
    const body = `{"pixel_id":"${config.pixelId}","cookie_id":${json(id || null)}${level > config.consentLevel ? ',"consent":true' : ''},"sent_at":${Date.now()},"events":[${batch}]}`
    if (isLeaving) {
      // No answer will come. Where none is likely to arrive, the next page sends it again.
      refusedForMs =
        (!navigator.sendBeacon(collector, body) || waitMs > batchMs || !navigator.onLine) && waitMs
    } else {
      // One at a time: the requests that may outlive a page carry 64 KiB in all.
      timer = sending
      asked = batch
      const answer = await window.fetch(collector, {
        method: 'POST',
        body,
        keepalive: count > 0,
        credentials: 'include',
      })
      if (answer.status < 429) refusedForMs = false
      // An answer of another kind names none. Consent may end while it arrives.
      const { cookie_id } = (await answer.json()) as BeaconReceipt
      if (level > 2) keepId(cookie_id || id)
    }
  } catch {}
  if (refusedForMs) requeue(batch)
  timer = undefined
  waitMs = refusedForMs || batchMs
  if (refusedForMs ? !isLeaving : queue[0]) schedule()
}

/** Waiting events are sent at once: the page closes, or the page or its connection returns. */
export const sendNow = (leaves: boolean): Promise<void> => {
  if (!(isLeaving = leaves)) waitMs = batchMs
  return flush()
}
