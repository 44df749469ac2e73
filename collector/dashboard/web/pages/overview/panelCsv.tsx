import { CsvButton } from '../../components/csvButton.tsx'
import type { ViewQuery } from '../../view/view.ts'
import { readBreakdowns, valuesMax } from './breakdown.ts'
import type { Dimension } from './dimensions.ts'

/** Hands out all values of a dimension as CSV. */
export function PanelCsv({ query, dimension }: { query: ViewQuery; dimension: Dimension }) {
  const rows = async () => {
    const { values } = (await readBreakdowns(query, [dimension], valuesMax)).get(dimension)!
    return values.map((row) => [row.value, row.visitors, row.events, row.page_views, row.sessions])
  }
  return (
    <CsvButton
      name={dimension}
      head={[dimension, 'visitors', 'events', 'page_views', 'sessions']}
      rows={rows}
    />
  )
}
