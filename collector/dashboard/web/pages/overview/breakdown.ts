import type { Answer } from '../../../../api/client/index.ts'
import { api } from '../../api.ts'
import type { ViewQuery } from '../../view/view.ts'
import { type Dimension, isOfCustomEvents } from './dimensions.ts'

type Breakdown = Answer<'getAnalyticsBreakdown'>['breakdowns'][string]
/** The values of a dimension, with those of the most visitors first. */
export type Values = Pick<Breakdown, 'values' | 'has_more'>
/** A value of a dimension, and its counts. */
export type Value = Breakdown['values'][number]
/** A view, and the name of the goal whose conversions each value has. */
export type PanelQuery = ViewQuery & { goal: string | undefined }

/** The API's limit of values of a dimension. */
export const valuesMax = 1_000

/** Reads the first values of dimensions. */
export async function readBreakdowns(
  query: PanelQuery,
  dimensions: readonly Dimension[],
  limit: number,
): Promise<ReadonlyMap<Dimension, Values>> {
  const { breakdowns } = await api.getAnalyticsBreakdown({
    ...query,
    dimensions: dimensions.join(','),
    limit,
  })
  return new Map(
    dimensions.map((dimension) => {
      const found = breakdowns[dimension]!
      const values = found.values.filter(
        ({ value }) => value !== null || !isOfCustomEvents(dimension),
      )
      return [dimension, { ...found, values }]
    }),
  )
}
