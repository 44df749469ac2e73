import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { ApiError } from '../api/http/errors.ts'
import { dateAt } from '../platform/days.ts'
import { canonicalJson } from '../platform/json.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import type { Queryable } from '../platform/postgres/transaction.ts'
import { endOf, limitReached } from './refusals.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The free answer that this request took. An error response gives it back first. */
    freeAnswer?: { giveBack(): Promise<void> }
  }
  interface FastifyContextConfig {
    /** The route calls `takeForRequest`, at least for some requests; the API document says so. */
    freeAnswers?: true
  }
}

/**
 * The free answers about people that an organization may receive on a UTC day. It is a brake on abuse: it does not
 * prevent inference. No other file decides about it.
 */
export interface Allowance {
  /**
   * Takes one of today's free answers of the caller's organization for the question of this request. A question is the
   * method, route, parameters and body, with the `versions` of the lists and builds that they name. It is free until
   * midnight UTC. Test keys and share links never pay. Throws 429 "platform_cap_exceeded" with the meter
   * `free_answers`. An error response gives the answer back.
   */
  takeForRequest(request: FastifyRequest, versions?: unknown): Promise<void>
  /**
   * Takes one for work that is never refused: a build, a list import, an export run. Returns from when its free numbers
   * are shown: now, or midnight UTC if the allowance is used up.
   */
  takeForWork(
    client: Queryable,
    organizationId: string,
    question: readonly unknown[],
    nowMs: number,
  ): Promise<Date>
  /** Returns today's allowance of an organization, and its rest. */
  read(organizationId: string): Promise<AllowanceState>
}

/**
 * Returns SQL of a free number of a build, list import or export run: null until the row's `numbers_from`, the time that
 * takeForWork returned. Example: `freeNumber('rows_matched', 'list_imports')`.
 */
export const freeNumber = (number: string, row: string): string =>
  `CASE WHEN ${row}.numbers_from <= now() THEN ${number} END`

interface AllowanceState {
  readonly per_day: number
  readonly left: number
  readonly resets_at: string
}

export function createAllowance({
  postgres,
  perDay,
  now,
}: {
  postgres: Postgres
  /** FOOTFALL_FREE_ANSWERS_PER_DAY: the allowance of organizations for which the operator set none. */
  perDay: number
  now: () => number
}): Allowance {
  const take = async (client: Queryable, { organizationId, question, nowMs }: Question) => {
    const { rows } = await client.query<{ outcome: Outcome; most: string }>({
      name: 'take_free_answer',
      text: 'SELECT outcome, most FROM take_free_answer($1, $2, $3, $4)',
      values: [organizationId, dateAt(nowMs), question, perDay],
    })
    return rows[0]!
  }
  return {
    async takeForRequest(request, versions) {
      const { principal, method, routeOptions, params, query, body } = request
      if (principal.mode === 'test' || principal.caller.kind === 'share') return
      const answer = {
        organizationId: principal.organizationId,
        question: hashOf([
          method,
          routeOptions.url,
          params,
          query,
          body,
          principal.projectId,
          versions,
        ]),
        nowMs: now(),
      }
      const { outcome, most } = await take(postgres, answer)
      if (outcome === 'refused') throw usedUp(Number(most), answer.nowMs)
      if (outcome === 'taken') request.freeAnswer = { giveBack: () => giveBack(postgres, answer) }
    },
    async takeForWork(client, organizationId, question, nowMs) {
      const answer = { organizationId, question: hashOf(question), nowMs }
      const { outcome } = await take(client, answer)
      return outcome === 'refused' ? endOf('day', nowMs) : new Date(nowMs)
    },
    async read(organizationId) {
      const nowMs = now()
      const { rows } = await postgres.query<{ per_day: number; taken: number }>(
        `SELECT coalesce((SELECT free_answers_per_day FROM billing_accounts WHERE organization_id = $1), $3)::float8 AS per_day,
           (SELECT count(*) FROM free_answers WHERE organization_id = $1 AND day = $2)::float8 AS taken`,
        [organizationId, dateAt(nowMs), perDay],
      )
      const { per_day, taken } = rows[0]!
      const resets_at = endOf('day', nowMs).toISOString()
      return { per_day, left: Math.max(0, per_day - taken), resets_at }
    },
  }
}

interface Question {
  organizationId: string
  /** Its sha256. */
  question: Buffer
  nowMs: number
}

type Outcome = 'taken' | 'repeated' | 'refused'

/**
 * Gives an answer back, unless the question was asked again: that request has the answer. A failure costs the
 * organization this one answer, not the response.
 */
async function giveBack(postgres: Postgres, { organizationId, question, nowMs }: Question) {
  await postgres
    .query(
      `DELETE FROM free_answers WHERE organization_id = $1 AND day = $2 AND question = $3 AND NOT is_repeated`,
      [organizationId, dateAt(nowMs), question],
    )
    .catch(() => {})
}

export async function deletePastAnswers(postgres: Postgres, nowMs: number): Promise<void> {
  await postgres.query('DELETE FROM free_answers WHERE day < $1', [dateAt(nowMs)])
}

const hashOf = (question: readonly unknown[]): Buffer =>
  createHash('sha256').update(canonicalJson(question)).digest()

function usedUp(most: number, nowMs: number): ApiError {
  const resetsAt = endOf('day', nowMs)
  return limitReached(
    `This organization received its ${most} free answers about people of today (UTC). Repeat a question of today, read the records, or ask again after ${resetsAt.toISOString()}.`,
    { meter: 'free_answers', period: 'day', limit_records: most },
    resetsAt,
    nowMs,
  )
}
