import type { Postgres } from '../../platform/postgres/pool.ts'
import { ApiError } from '../http/errors.ts'
import { callerId, type Principal } from './principal.ts'

interface Bucket {
  /** Tokens added per second. */
  rate: number
  /** The most tokens in the bucket, so the largest burst. */
  burst: number
  /** Whether all keys of the organization share the bucket, or each key has its own. */
  per: 'organization' | 'caller'
}

/** The buckets that requests take tokens from (spec: Errors and limits). */
const buckets = {
  /** 720 requests a minute, bursts of 25. */
  events: { rate: 12, burst: 25, per: 'organization' },
  caller: { rate: 10, burst: 10, per: 'caller' },
  /** A page of figures sends several requests at once, and repeats them every few seconds. */
  analytics: { rate: 10, burst: 40, per: 'caller' },
  /** All readers of one share link share it: a few dozen, whose pages repeat requests every few seconds. */
  share: { rate: 10, burst: 60, per: 'caller' },
  batch_lookup: { rate: 2, burst: 2, per: 'organization' },
  intent: { rate: 10, burst: 10, per: 'organization' },
  intent_preview: { rate: 5, burst: 5, per: 'organization' },
  audience_sample: { rate: 5, burst: 5, per: 'organization' },
  /** A refusal after the owner changed a budget or limit reveals data, so changes are limited. */
  usage_limits: { rate: 20 / 3600, burst: 20, per: 'organization' },
  organization: { rate: 25, burst: 50, per: 'organization' },
} as const satisfies Record<string, Bucket>
type BucketName = keyof typeof buckets

/** A route takes a token of each bucket, in the order of the table, which prevents deadlocks. */
export const rateLimits = {
  events: ['events'],
  data: ['caller', 'organization'],
  analytics: ['analytics', 'organization'],
  /** No bucket of the organization, because viewers of a link must not use up the limit of its keys. */
  share: ['share'],
  batch_lookup: ['caller', 'batch_lookup', 'organization'],
  intent: ['caller', 'intent', 'organization'],
  intent_preview: ['caller', 'intent', 'intent_preview', 'organization'],
  audience_sample: ['caller', 'audience_sample', 'organization'],
  usage_limits: ['caller', 'usage_limits', 'organization'],
} as const satisfies Record<string, readonly BucketName[]>
export type RateLimitName = keyof typeof rateLimits

/**
 * Whether X-RateLimit-* headers report the limit of a route: where the organization's bucket counts. So not
 * in the events API (spec: Errors and limits), and not for limits per hour. They report the tightest bucket,
 * so that a client that follows them is not refused. This is the organization's 25 a second with bursts of 50
 * if several keys share it, otherwise the key's own.
 */
const hasRateHeaders = (limit: RateLimitName): boolean =>
  limit !== 'events' && limit !== 'usage_limits'

/** Takes a request's tokens. Resolves with the response headers; rejects with 429 "rate_limited". */
export type TakeTokens = (
  principal: Principal,
  limit: RateLimitName,
) => Promise<Record<string, string>>

/**
 * Creates the rate limits of the data API, by the generic cell rate algorithm. They are exact and shared by
 * all processes through PostgreSQL, whose clock is the only one used (functions/take_tokens.sql).
 */
export function createTakeTokens(postgres: Postgres): TakeTokens {
  return async (principal, limit) => {
    const names: readonly BucketName[] = rateLimits[limit]
    const { rows } = await postgres.query<TokensTaken>({
      name: 'take_tokens',
      text: 'SELECT refused, wait_seconds, remaining, tightest FROM take_tokens($1, $2, $3)',
      values: [
        names.map((name) => `${name}:${ownerOf(principal, buckets[name].per)}`),
        names.map((name) => 1 / buckets[name].rate),
        names.map((name) => buckets[name].burst),
      ],
    })
    const { refused, wait_seconds, remaining, tightest } = rows[0]!
    const headers = hasRateHeaders(limit)
      ? rateHeaders(buckets[names[tightest - 1]!], remaining)
      : {}
    if (refused === 0) return headers
    const { rate, per } = buckets[names[refused - 1]!]
    throw new ApiError(
      429,
      'rate_limited',
      `Rate limit exceeded: ${inWords(rate)} for ${limit === 'share' ? 'this link' : per === 'caller' ? 'this key' : 'this organization'}. Wait, then retry.`,
      { headers: { ...headers, 'retry-after': String(Math.max(1, Math.ceil(wait_seconds))) } },
    )
  }
}

const inWords = (rate: number): string =>
  rate < 1 ? `${Math.round(rate * 3600)} requests an hour` : `${rate} requests a second`

export function describeRateLimit(limit: RateLimitName): string {
  const parts = rateLimits[limit].map((name) => {
    const { rate, burst, per } = buckets[name]
    return `${inWords(rate)}, bursts of ${burst}, per ${per === 'caller' ? 'key' : 'organization'}`
  })
  const headers = hasRateHeaders(limit)
    ? ' `X-RateLimit-Limit`, `-Burst` and `-Remaining` describe the strictest of them.'
    : ''
  return `${parts.join('; ')}.${headers} \`Retry-After\` contains the seconds to wait.`
}

interface TokensTaken {
  /** The index of the empty bucket, from 1; 0 if there is none. */
  refused: number
  wait_seconds: number
  /** Tokens left in the tightest bucket. */
  remaining: number
  /** The index of the tightest bucket, from 1. */
  tightest: number
}

const rateHeaders = ({ rate, burst }: Bucket, remaining: number) => ({
  'x-ratelimit-limit': String(rate),
  'x-ratelimit-burst': String(burst),
  'x-ratelimit-remaining': String(Math.min(remaining, rate)),
})

/** Requests of a test key have buckets of their own, and never take tokens of live keys. */
const ownerOf = (principal: Principal, per: Bucket['per']): string =>
  per === 'caller' ? callerId(principal) : `${principal.organizationId}:${principal.mode}`
