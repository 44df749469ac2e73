import type { Answer } from '../../../../api/client/index.ts'
import { api } from '../../api.ts'
import type { ViewQuery } from '../../view/view.ts'
import type { Dimension } from './dimensions.ts'

type Breakdown = Answer<'getAnalyticsBreakdown'>['breakdowns'][string]
/** The values of a dimension, with those of the most visitors first. */
export type Values = Pick<Breakdown, 'values' | 'has_more'>
/** A value of a dimension, and its counts. */
export type Value = Breakdown['values'][number]

/** As many values as the API gives of a dimension. */
export const valuesMax = 1_000

/** Asks for the first values of dimensions. */
export async function readBreakdowns(
  query: ViewQuery,
  dimensions: readonly Dimension[],
  limit: number,
): Promise<ReadonlyMap<Dimension, Values>> {
  const asked = dimensions.includes('referrer_host') ? [...dimensions, 'page_host'] : dimensions
  const { breakdowns } = await api.getAnalyticsBreakdown({
    ...query,
    dimensions: [...new Set(asked)].join(','),
    limit,
  })
  return new Map(
    dimensions.map((dimension) => {
      const found = breakdowns[dimension]!
      return [
        dimension,
        dimension === 'referrer_host' ? withoutOwn(found, breakdowns.page_host!) : found,
      ]
    }),
  )
}

/** Referrers without the site's own pages, which are where visitors came from inside it, not to it. */
function withoutOwn(referrers: Values, pages: Values): Values {
  const own = pages.values.map(({ value }) => value)
  const isOther = ({ value }: Value) => value === null || !own.includes(value)
  return { ...referrers, values: referrers.values.filter(isOther) }
}
