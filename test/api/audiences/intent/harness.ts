import { dayMs } from '../../../../collector/platform/days.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { seededRandom } from '../../../../collector/platform/seededRandom.ts'
import { hemAsNumber } from '../../../../schemas/fields.ts'
import { insertRows } from '../../../harness/rows.ts'
import { openAudiences } from '../harness.ts'
import type { Person, Signal } from './naive.ts'

export const topics = [
  'cloud_computing',
  'payroll_software',
  'ceramics_and_pottery',
  'wine',
  'golf',
]
const seniorities = ['c_suite', 'director', null]

/** People and signals at random, the same for the same seed. */
export function makeWorld(seed: number, size = { people: 40, signals: 600 }) {
  const random = seededRandom(seed)
  const domains = ['alder.example', 'birch.example', 'cedar.example', null]
  const people = Array.from({ length: size.people }, (_, index): Person => {
    const count = random.pick([1, 1, 1, 2, 3])
    return {
      emails: Array.from({ length: count }, (_, n) => `person-${index}-${n}@known.example`),
      company_domain: random.pick(domains),
      job_seniority: random.pick(seniorities),
    }
  })
  const signals = Array.from({ length: size.signals }, (): Signal => {
    const subject = random.chance(0.15)
      ? { company_domain: random.pick(['alder.example', 'dune.example']) }
      : { email: random.pick(random.pick(people).emails) }
    return {
      topic: random.pick(topics),
      ...subject,
      daysAgo: random.integer(0, 150),
      score: random.integer(0, 100),
      source: random.pick(['one', 'other']),
    }
  })
  return { people, signals }
}

/** The app's read side with signals; requests come from an organization that has no other data. */
export async function openIntent(options: Parameters<typeof openAudiences>[0] = {}) {
  const audiences = await openAudiences(options)
  const { app, clickhouse, postgres } = audiences

  const post = (path: string, payload: object, headers: Record<string, string> = {}) =>
    app.inject({ method: 'POST', url: `/api/v1/intent/${path}`, payload, headers })

  return {
    ...audiences,
    post,
    /** The body of an answer that is to be 200. */
    async ask(path: string, payload: object, headers: Record<string, string> = {}) {
      const answer = await post(path, payload, headers)
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
      return answer.json()
    },
    /** Signals as the operator loads them, one after the other. */
    async signal(signals: readonly Signal[], nowMs = Date.now()): Promise<void> {
      const lines = signals.map(
        ({ topic, email, company_domain = '', daysAgo, score, source }, index) =>
          JSON.stringify({
            topic,
            hem: email === undefined ? '' : hemOf(email),
            company_domain,
            score,
            source,
            date: new Date(nowMs - daysAgo * dayMs).toISOString().slice(0, 10),
            version: new Date(nowMs + index).toISOString(),
          }),
      )
      await clickhouse.live.feed(
        {
          sql: `INSERT INTO intent_signals (topic, date, hem_number, company_domain, source, score, updated_at)
                SELECT topic, date, if(hem = '', 0, ${hemAsNumber('hem')}), company_domain, source, score,
                  parseDateTime64BestEffort(version, 3, 'UTC')
                FROM input('topic String, hem String, company_domain String, date Date, score UInt8, source String, version String')
                FORMAT JSONEachRow`,
          params: {},
        },
        Buffer.from(lines.join('\n')),
      )
    },
    /** Profiles of people: that of the first address is the newest. */
    knowPeople: (
      people: readonly Person[],
      moreOf: (index: number) => Record<string, unknown> = () => ({}),
    ) =>
      audiences.know({
        profiles: people.flatMap(({ emails, company_domain, job_seniority }, index) =>
          emails.map((email, n) => ({
            hem: hemOf(email),
            pte_person_id: `person ${index}`,
            email,
            company_domain,
            job_seniority,
            updated_at: new Date(Date.UTC(2026, 0, 20 - n)).toISOString(),
            ...moreOf(index),
          })),
        ),
      }),
    /** Records charged so far, by meter. */
    async charged(): Promise<Record<string, number>> {
      const { rows } = await postgres.query<{ meter: string; records: number }>(
        'SELECT meter, sum(records)::int AS records FROM ledger GROUP BY meter',
      )
      return Object.fromEntries(rows.map(({ meter, records }) => [meter, records]))
    },
    /** Has the organization, or all, no longer show somebody. */
    async optOut(hem: string, organization = '00000000-0000-0000-0000-000000000000') {
      const row = {
        organization_id: organization,
        hem,
        is_active: true,
        cookie_id: '00000000-0000-0000-0000-000000000000',
      }
      await insertRows(clickhouse.live, 'opt_outs', [row])
    },
  }
}

/** YYYY-MM-DD so many days ago. */
export const dateAgo = (days: number): string =>
  new Date(Date.now() - days * dayMs).toISOString().slice(0, 10)
