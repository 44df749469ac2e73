import type { WarnLog } from '../../platform/log.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { OutboundError } from '../../platform/outbound/outboundError.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import { signMessage } from '../../platform/outbound/signature.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { type ClaimedDelivery, claimDeliveries } from './claim.ts'
import { messageIdPrefix } from './deliveries.ts'
import { type Outcome, recordOutcome } from './outcome.ts'
import { secretPurpose } from './webhooks.ts'

interface DelivererDeps {
  postgres: Postgres
  outbound: Outbound
  secretBox: SecretBox
  /** The time in which a receiver must have answered. */
  webhookTimeoutMs: number
  now(): number
  log: WarnLog
}

export interface Deliverer {
  /** Starts due deliveries, including those that become due meanwhile, up to the limit. */
  begin(): Promise<void>
  /** Aborts current tries: the next process retries them. */
  stop(): Promise<void>
}

/** Concurrent tries of one process. */
const triesMax = 256
/** Tries that are due sooner than this get their own timer, because the job runs only every minute. */
const remindedSecondsMax = 60
const responseBytesMax = 1_024

export function createDeliverer(deps: DelivererDeps): Deliverer {
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()
  const reminders = new Set<NodeJS.Timeout>()
  let claiming: Promise<void> | null = null
  let isAskedAgain = false

  const claim = async () => {
    do {
      isAskedAgain = false
      const room = triesMax - underWay.size
      if (room === 0 || stopping.signal.aborted) return
      for (const delivery of await claimDeliveries(deps.postgres, room)) start(delivery)
    } while (isAskedAgain)
  }
  const begin = (): Promise<void> => {
    isAskedAgain = true
    claiming ??= claim().finally(() => {
      claiming = null
    })
    return claiming
  }
  const remind = (seconds: number) => {
    const timer = setTimeout(() => {
      reminders.delete(timer)
      begin().catch(() => {})
    }, seconds * 1_000)
    reminders.add(timer)
  }
  const start = (delivery: ClaimedDelivery) => {
    const done = tryOnce(deps, delivery, stopping.signal)
      .then((seconds) => {
        if (seconds !== null && seconds < remindedSecondsMax) remind(seconds)
        return begin()
      })
      // An unrecorded delivery is tried again when its lease ends.
      .catch((error: Error) =>
        deps.log.warn(
          { delivery_id: delivery.delivery_id, error: error.message },
          'cannot record the outcome of a delivery',
        ),
      )
      .finally(() => underWay.delete(done))
    underWay.add(done)
  }
  return {
    begin,
    async stop() {
      stopping.abort()
      for (const timer of reminders) clearTimeout(timer)
      await claiming?.catch(() => {})
      await Promise.all(underWay)
    },
  }
}

/** Tries a delivery and records the outcome. Returns the seconds until the next try; null: none. */
async function tryOnce(
  deps: DelivererDeps,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<number | null> {
  const outcome = await send(deps, delivery, signal)
  if (!signal.aborted) return recordOutcome(deps.postgres, delivery, outcome, deps.now())
  await deps.postgres.query(
    'UPDATE webhook_deliveries SET leased_until = NULL WHERE delivery_id = $1',
    [delivery.delivery_id],
  )
  return null
}

/** Sends a message once, and returns every result as an outcome. */
async function send(
  { outbound, secretBox, webhookTimeoutMs, now }: DelivererDeps,
  { webhook_id, message_id, url, sealed_secret, former_sealed_secret, ...message }: ClaimedDelivery,
  signal: AbortSignal,
): Promise<Outcome> {
  const secrets = [sealed_secret, former_sealed_secret]
    .filter((sealed) => sealed !== null)
    .map((sealed) => secretBox.open(sealed, secretPurpose(webhook_id)))
  const { type, created_at, data } = message
  const body = JSON.stringify({ type, timestamp: created_at.toISOString(), data })
  try {
    const answer = await outbound.send({
      method: 'POST',
      url,
      body,
      timeoutMs: webhookTimeoutMs,
      responseBytesMax,
      signal,
      takesPart: true,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Footfall-Webhooks/1',
        ...signMessage(secrets, { id: messageIdPrefix + message_id, nowMs: now(), body }),
      },
    })
    return {
      status: answer.status,
      body: textOf(answer.body),
      error:
        answer.status >= 200 && answer.status < 300
          ? null
          : `The receiver answered ${answer.status}.`,
      retryAfter: answer.headers['retry-after'],
    }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { status: null, body: null, error: error.message }
  }
}

/** PostgreSQL cannot store NUL. */
const textOf = (bytes: Buffer): string => bytes.toString('utf8').replaceAll('\0', '\ufffd')
