import { randomUUID } from 'node:crypto'
import type { Random } from '../../collector/platform/seededRandom.ts'
import { ask, type Row } from '../harness/api.ts'
import type { Cluster } from '../harness/cluster.ts'
import type { Service } from '../harness/service.ts'

/** What several processes of the API say to the same questions, and charge for them together. */
export interface Answers {
  /** Pages that all of them were asked for at once, with one Idempotency-Key. */
  pages: number
  /** Those that they did not answer alike. */
  differing: number
  /** Records of these pages, each once. */
  records: number
  /** The total charge in all answers, and in the ledger. */
  charged: number
  inLedger: number
}

export const isChargedAlike = ({ differing, records, charged, inLedger }: Answers): boolean =>
  differing === 0 && records === charged && records === inLedger

const questions = 12
const pagesOfEach = 3
const tiers = ['web_event', 'resolution_hem', 'resolution_hem_pte', 'resolution_full_profile']

/**
 * Requests the same pages from every process of the API at the same time, and the next page of another
 * process from each. Nothing may arrive meanwhile, and nobody else may read.
 */
export async function compareAnswers(
  { apis, pixelIds }: Cluster,
  random: Random,
): Promise<Answers> {
  const found = { pages: 0, differing: 0, records: 0, charged: 0 }
  const before = await usage(apis[0]!)
  for (let question = 0; question < questions; question++) {
    const path = `/api/v3/events/${tiers[question % tiers.length]}`
    const place = random.chance(0.5) ? { pixel_id: random.pick(pixelIds) } : {}
    const [limit, order] = [random.pick(['7', '100', '1000']), random.pick(['asc', 'desc'])]
    const window = { start_ms: String(Date.now() - 24 * 3_600_000), end_ms: String(Date.now()) }
    let query: Record<string, string> = { ...window, ...place, limit, order }
    for (let page = 0; page < pagesOfEach; page++) {
      const answers = await askAll(apis, `${path}?${new URLSearchParams(query)}`)
      const [first] = answers as [Answer]
      found.pages++
      if (answers.some(({ rows }) => JSON.stringify(rows) !== JSON.stringify(first.rows)))
        found.differing++
      found.records += first.rows.length
      for (const { charged } of answers) found.charged += charged
      const cursor = answers[page % answers.length]!.nextCursor
      if (cursor === undefined) break
      query = { ...place, limit, cursor }
    }
  }
  return { ...found, inLedger: (await usage(apis.at(-1)!)) - before }
}

interface Answer {
  rows: Row[]
  charged: number
  nextCursor: string | undefined
}

function askAll(apis: readonly Service[], path: string): Promise<Answer[]> {
  const key = { 'idempotency-key': randomUUID() }
  return Promise.all(
    apis.map(async (api) => {
      const answer = await ask(api, path, key)
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      const { rows, meta } = (await answer.json()) as {
        rows: Row[]
        meta: { next_cursor?: string }
      }
      const charged = Number(answer.headers.get('x-footfall-charged'))
      return { rows, charged, nextCursor: meta.next_cursor }
    }),
  )
}

/** Records that the organization was charged for this month. */
async function usage(api: Service): Promise<number> {
  const answer = await ask(api, '/api/v1/billing/usage')
  return ((await answer.json()) as { records: number }).records
}
