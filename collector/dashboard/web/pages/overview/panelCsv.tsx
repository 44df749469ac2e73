import { CsvButton } from '../../components/csvButton.tsx'
import { type PanelQuery, readBreakdowns, valuesMax } from './breakdown.ts'
import type { Dimension } from './dimensions.ts'

/** Downloads all values of a dimension as CSV. */
export function PanelCsv({ query, dimension }: { query: PanelQuery; dimension: Dimension }) {
  const rows = async () => {
    const { values } = (await readBreakdowns(query, [dimension], valuesMax)).get(dimension)!
    return values.map(({ value, visitors, events, page_views, sessions, goal }) => [
      value,
      visitors,
      events,
      page_views,
      sessions,
      ...(goal ? [goal.visitors, goal.rate, goal.revenue?.value ?? null] : []),
    ])
  }
  return (
    <CsvButton
      name={dimension}
      head={[
        dimension,
        'visitors',
        'events',
        'page_views',
        'sessions',
        ...(query.goal === undefined ? [] : ['converted', 'rate', 'revenue']),
      ]}
      rows={rows}
    />
  )
}
