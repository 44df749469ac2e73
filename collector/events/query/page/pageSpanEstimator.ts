import type { QueryExecutor } from '../../../api/access/queryExecutor.ts'
import type { ClickHouse } from '../../../platform/clickhouse/client.ts'
import type { RowKey } from './cursor.ts'
import type { EventsPlan } from './eventsPlan.ts'
import { pageBegin, readsTimeOfLast } from './multiProjectBound.ts'

/** Measurements of one store: milliseconds per row, by kind of read. */
type MillisPerRow = Map<string, number>

const rememberedBy = new WeakMap<ClickHouse, MillisPerRow>()
const rememberedMax = 10_000

/** The time span in which to search the rows of a page. */
interface PageSpan {
  /** Milliseconds from the start of the page; undefined without a measurement, or if it saves no time. */
  readonly spanMs: number | undefined
  learn(next: RowKey): void
  /** Reports that the span had too few rows. */
  forget(): void
}

/**
 * Estimates it from earlier pages of the same organization. Querying each project for the time of the page's
 * last row takes ClickHouse half as long as the page. An estimate only saves time: a page that was not filled
 * is read again.
 */
export function estimateSpan({ clickhouse }: QueryExecutor, plan: EventsPlan): PageSpan {
  const { scope, source, filters, order, window, limit } = plan
  if (!readsTimeOfLast(plan) || filters.length > 0 || plan.distinct.length > 0 || plan.offset > 0)
    return nothingKnown
  const spans: MillisPerRow = rememberedBy.get(clickhouse) ?? new Map()
  rememberedBy.set(clickhouse, spans)
  const key = JSON.stringify([scope.organizationId, scope.pixelId, scope.campaignId, source])
  const millisPerRow = spans.get(key)
  const from = pageBegin(plan)
  const leftMs = order === 'desc' ? from - window.startMs : window.endMs - from
  // Slightly more than twice the estimate, because adjacent rows are read together anyway.
  const spanMs =
    millisPerRow === undefined ? undefined : Math.ceil(millisPerRow * (2 * limit + 100))
  return {
    spanMs: spanMs !== undefined && spanMs < leftMs ? spanMs : undefined,
    learn(next) {
      if (spans.size >= rememberedMax) spans.clear()
      const measured = Math.abs(from - next.millis) / limit
      // With two alternating readers, the one with sparse rows would otherwise need two reads each time.
      spans.set(key, Math.max(measured, (millisPerRow ?? 0) / 2))
    },
    forget: () => spans.delete(key),
  }
}

const nothingKnown: PageSpan = { spanMs: undefined, learn() {}, forget() {} }
