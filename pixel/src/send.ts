import type { BeaconReceipt } from '../../schemas/beacon.ts'
import { endpoint, pixelId, scriptUrl } from './config.ts'
import { decide, level } from './consent.ts'
import { attempt } from './guard.ts'
import { id, keepId, readId, uuid } from './identity.ts'
import { encode, lines, putBack, take, unpark } from './queue.ts'

/** Beside the script, under whatever path it is served. Script optimisers inline it: then none is current. */
const collector = new URL(endpoint, (document.currentScript as HTMLScriptElement | null)?.src || scriptUrl)

/** Events of one moment share a request: a click and what it led to. */
const batchMs = 500
/** The wait before the next request: more than batchMs since the collector last refused one. */
let waitMs = batchMs
let timer: ReturnType<typeof setTimeout> | undefined
let isSending = false
/** Who this browser belongs to, until the collector has been told. */
let hem: string | undefined
/** The page is hidden or on its way out: nothing may wait. */
let isLeaving = false

/** Sends before long, when the page has nothing better to do. */
export const schedule = (delayMs = waitMs): void => {
  timer =
    timer ||
    (isLeaving
      ? (queueMicrotask as (work: () => void) => undefined)(flush)
      : setTimeout(
          // Safari has no requestIdleCallback; setTimeout takes the options for a delay of 0.
          () => (window.requestIdleCallback || setTimeout)(flush, { timeout: 1000 } as never),
          delayMs,
        ))
}

export const tellHem = (value: string): void => {
  hem = value
  schedule()
}

/** For who looks for a fault: shows every event and what became of it (chunks/debug.ts). Awaited, to miss none. */
const loadFaultFinder = () =>
  attempt(
    () =>
      (/footfall_debug/.test(location.search) || localStorage.footfall_debug) &&
      import(new URL('p/debug.js', collector) as unknown as string).catch(() => {}),
  )

/** Sends what waits; by beacon, which outlives the page, when that is leaving. */
export const flush = async (): Promise<void> => {
  timer = clearTimeout(timer) as undefined
  const leaves = isLeaving
  decide()
  // What a leaving page parks is the next page's to send.
  if (!leaves) {
    await loadFaultFinder()
    unpark()
  }
  encode()
  const sentHem = level > 2 ? hem : undefined
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
  else if (hem === sentHem) hem = undefined
  // The rest is more than browsers let leave at once.
  if (leaves) return putBack([])
  isSending = false
  waitMs = isRefused ? (waitMs * 2) % 61_000 : batchMs
  schedule()
}

/** The page leaves, or is back. */
export const leave = (leaves: boolean): void => {
  unpark()
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
