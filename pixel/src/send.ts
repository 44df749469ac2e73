import type { Beacon, BeaconReceipt } from '../../schemas/beacon.ts'
import { config } from './config.ts'
import { hasConsent, isHeld } from './consent.ts'
import { safely } from './guard.ts'
import { hem, hemSent } from './identify.ts'
import { cookieId, keepId } from './identity.ts'
import { gather, putBack, take } from './queue.ts'

let timer: ReturnType<typeof setTimeout> | undefined
let isSending = false
/** Refusals in a row. */
let failures = 0

/** Sends before long, when the page has nothing better to do. */
export const schedule = (): void => {
  // Events of one moment share a request: a click and what it led to. Twice as long after each refusal.
  const batchMs = 300
  const retryMsMax = 60_000
  timer ||= setTimeout(
    // Safari has no requestIdleCallback; setTimeout takes the options for a delay of 0.
    () => (window.requestIdleCallback || setTimeout)(() => flush(), { timeout: 1000 } as never),
    Math.min(retryMsMax, batchMs * 2 ** failures),
  )
}

/** Sends what waits; a page on its way out has no later, so there everything goes at once. */
export const flush = (isLeaving = false): void => {
  clearTimeout(timer)
  timer = undefined
  let count = gather()
  if (isHeld() || !(count || hem())) return
  if (isLeaving) {
    const refused: string[] = []
    do {
      const batch = take()
      count -= batch.length
      if (!leaveBehind(batch)) refused.push(...batch)
    } while (count)
    putBack(refused)
  } else if (!isSending) {
    // One at a time: the keepalive requests of a page may carry 64 KiB in all.
    send(take())
  }
}

const send = async (batch: string[]) => {
  const sentHem = hem()
  // Unless an answer says otherwise: offline, blocked, over the browser's budget, or someone patched fetch.
  let isRefused = true
  isSending = true
  try {
    const answer = await post(bodyOf(batch))
    isRefused = answer.status === 429 || answer.status > 499
    keepId(((await answer.json()) as BeaconReceipt).cookie_id)
  } catch {}
  isSending = false
  if (isRefused) {
    failures++
    putBack(batch)
    clearTimeout(timer)
    timer = undefined
    schedule()
  } else {
    failures = 0
    hemSent(sentHem)
    flush()
  }
}

/** A beacon outlives its page but brings no answer: while the collector refuses, its events stay queued. */
const leaveBehind = (batch: string[]) => {
  const body = bodyOf(batch)
  if (safely(() => navigator.sendBeacon(config.endpoint, body))()) {
    hemSent(hem())
    return !failures
  }
  post(body).catch(() => {})
}

/** A string goes as text/plain, which needs no preflight. */
const post = async (body: string) =>
  fetch(config.endpoint, { method: 'POST', body, keepalive: true, credentials: 'include' })

const bodyOf = (batch: string[]): string => {
  const head = JSON.stringify({
    pixel_id: config.pixel_id,
    cookie_id: cookieId(),
    hem: hem(),
    consent: hasConsent(),
    sent_at: new Date().toISOString(),
  } as Omit<Beacon, 'events'>)
  return `${head.slice(0, -1)},"events":[${batch}]}`
}
