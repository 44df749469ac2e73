import Stripe from 'stripe'

interface UsageReport {
  /** Stripe accepts the same identifier once within at least a day. */
  reportId: string
  customerId: string
  meter: string
  records: number
  usedAt: Date
}

/** The result of a report. `unsure`: Stripe may or may not have received it. */
export type Reported = { result: 'taken' } | { result: 'refused' | 'unsure'; reason: string }

export type TellStripe = (report: UsageReport) => Promise<Reported>

/** Stripe's name of one of our meters. */
const eventNameOf = (meter: string): string => `footfall_${meter}`

const timeoutMs = 10_000

/** Opens Stripe's API with the account's secret key; `apiBase` is another server that speaks it. */
export function openStripe(
  apiKey: string,
  apiBase: string | null,
  timeout = timeoutMs,
): TellStripe {
  const stripe = new Stripe(apiKey, {
    // What fails is tried again from the table, also after a restart.
    maxNetworkRetries: 0,
    timeout,
    telemetry: false,
    ...(apiBase !== null && serverOf(new URL(apiBase))),
  })
  return async ({ reportId, customerId, meter, records, usedAt }) => {
    try {
      await stripe.billing.meterEvents.create(
        {
          event_name: eventNameOf(meter),
          identifier: reportId,
          payload: { stripe_customer_id: customerId, value: String(records) },
          timestamp: Math.floor(usedAt.getTime() / 1000),
        },
        { idempotencyKey: reportId },
      )
      return { result: 'taken' }
    } catch (error) {
      return reportedOf(error)
    }
  }
}

function serverOf({ protocol, hostname, port }: URL) {
  const isPlain = protocol === 'http:'
  return {
    protocol: isPlain ? ('http' as const) : ('https' as const),
    host: hostname,
    port: port || (isPlain ? 80 : 443),
  }
}

/** Stripe refuses an identifier that it has; not always with the code that its documentation names. */
const duplicatePattern = /event already exists with identifier|duplicate identifier/i

function reportedOf(error: unknown): Reported {
  // A broken connection, or something that answered in Stripe's place.
  if (!(error instanceof Stripe.errors.StripeError))
    return { result: 'unsure', reason: 'no answer' }
  const { statusCode, code, type, message } = error
  if (statusCode === 400 && (code === 'duplicate_meter_event' || duplicatePattern.test(message))) {
    return { result: 'taken' }
  }
  // The reason omits Stripe's message, because it may contain parts of the request.
  const reason = [statusCode, type, code].filter(Boolean).join(' ')
  const isRefused = statusCode !== undefined && statusCode >= 400 && statusCode < 500
  return { result: isRefused ? 'refused' : 'unsure', reason }
}
