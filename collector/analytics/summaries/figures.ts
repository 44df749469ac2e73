import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { visitorText } from '../../platform/outbox/visitorText.ts'
import { readBreakdowns } from '../breakdowns.ts'
import type { AnalyticsPlan } from '../figuresRequest.ts'
import { type Figures, readPeriod } from '../overviewRoute.ts'
import { mayTellOfPerson } from '../sharePolicy.ts'
import type { Period } from './periods.ts'

/** Content of a summary: no identities, and no values that may describe a person or that visitors made up as links. */
export interface SummaryFigures {
  readonly now: Figures
  readonly before: Figures
  readonly pages: readonly Counted[]
  readonly sources: readonly Counted[]
}

/** A value and its visitors; null: visitors without a value. */
export interface Counted {
  readonly value: string | null
  readonly visitors: number
}

const shownMax = 5
/** Some of these are omitted, because they may describe a person or become links. */
const readMax = 50

export async function readSummary(
  queryExecutor: QueryExecutor,
  { organizationId, projectId }: { organizationId: string; projectId: string },
  { before, startMs, endMs, zone }: Period,
): Promise<SummaryFigures> {
  const plan: AnalyticsPlan = {
    source: 'pixel',
    window: { startMs, endMs },
    filters: [],
    bots: 'excluded',
    zone,
    scope: { organizationId, projectId, pixelId: null, campaignId: null },
  }
  const [now, previous, values] = await Promise.all([
    readPeriod(queryExecutor, plan),
    readPeriod(queryExecutor, { ...plan, window: before }),
    readBreakdowns(queryExecutor, plan, ['page_path', 'source'], { limit: readMax }),
  ])
  const shown = (found: readonly Counted[]) =>
    found
      .flatMap(({ value, visitors }): Counted[] => {
        if (value === null) return [{ value, visitors }]
        const text = mayTellOfPerson(value) ? null : visitorText(value)
        return text === null ? [] : [{ value: text, visitors }]
      })
      .slice(0, shownMax)
  return {
    now: now.overview,
    before: previous.overview,
    pages: shown(values.page_path!.values.filter(({ value }) => value !== null)),
    sources: shown(values.source!.values),
  }
}
