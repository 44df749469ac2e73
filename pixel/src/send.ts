import type { BeaconReceipt } from '../../schemas/beacon.ts'
import { endpoint, pixelId, scriptUrl } from './config.ts'
import { level } from './consent.ts'
import { hem, hemSent } from './identify.ts'
import { id, keepId, readId, uuid } from './identity.ts'
import { gather, lines, putBack, take } from './queue.ts'

/** Beside the script, under whatever path it is served. Script optimisers inline it: then none is current. */
export const collector = new URL(
  endpoint,
  (document.currentScript as HTMLScriptElement | null)?.src || scriptUrl,
)

/** Events of one moment share a request: a click and what it led to. */
const batchMs = 500
/** The wait before the next request: more than batchMs since the collector last refused one. */
let waitMs = batchMs
let timer: ReturnType<typeof setTimeout> | undefined | void
let isSending = false
/** The page is hidden or on its way out: nothing may wait. */
export let isLeaving = false

/** Sends before long, when the page has nothing better to do. */
export const schedule = (delayMs = waitMs): void => {
  timer =
    timer ||
    (isLeaving
      ? queueMicrotask(flush)
      : setTimeout(
          // Safari has no requestIdleCallback; setTimeout takes the options for a delay of 0.
          () => (window.requestIdleCallback || setTimeout)(flush, { timeout: 1000 } as never),
          delayMs,
        ))
}

/** Sends what waits; by beacon, which outlives the page, when that is leaving. */
export const flush = async (): Promise<void> => {
  timer = clearTimeout(timer!)
  gather()
  const sentHem = hem()
  const leaves = isLeaving
  // One at a time: the requests that may outlive a page carry 64 KiB in all.
  if (level < 2 || !(lines[0] || sentHem) || (isSending && !leaves)) return
  const batch = take()
  // Unless an answer says otherwise: offline, blocked, over the browser's budget, or someone patched fetch.
  let isRefused = true
  try {
    const body = bodyOf(batch, sentHem)
    if (leaves) {
      // No answer will come. Where none is likely to arrive, the next page sends it again.
      isRefused = !navigator.sendBeacon(collector, body) || waitMs > batchMs || !navigator.onLine
    } else {
      isSending = true
      const answer = await fetch(collector, { method: 'POST', body, keepalive: true, credentials: 'include' })
      isRefused = /429|5../.test(answer.status as unknown as string)
      const { cookie_id } = (await answer.json()) as BeaconReceipt
      if (level > 2) keepId(cookie_id)
    }
  } catch {}
  if (isRefused) putBack(batch)
  else hemSent(sentHem)
  // The rest is more than browsers let leave at once.
  if (leaves) return putBack([])
  isSending = false
  waitMs = isRefused ? (waitMs * 2) % 61_000 : batchMs
  schedule()
}

/** The page leaves, or is back. */
export const leave = (leaves: boolean): void => {
  gather()
  isLeaving = leaves
  if (leaves) flush()
  else schedule()
}

/** A string goes as text/plain, which needs no preflight. */
const bodyOf = (batch: string[], sentHem: string | undefined): string => {
  if (level > 2) keepId(id || readId() || uuid())
  const head = {
    pixel_id: pixelId,
    cookie_id: id,
    hem: sentHem,
    consent: level > 2,
    sent_at: new Date(),
  }
  return `${JSON.stringify(head).slice(0, -1)},"events":[${batch}]}`
}
