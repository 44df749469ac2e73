import { ShareBar } from '../../components/figureMarks.tsx'
import { moneyOf, percent, wholeNumber } from '../../format.ts'
import { Drilldown } from '../../view/drilldown.tsx'
import { FilterButton } from '../../view/filterButton.tsx'
import type { Value } from './breakdown.ts'
import { type Dimension, filtersOf, headOf, textOf } from './dimensions.ts'
import { Icon } from './icon.tsx'

/** A value's name, with its flag or icon; a click on it filters the whole page. */
export function ValueName({
  dimension,
  value,
  after,
}: {
  dimension: Dimension
  value: string | null
  /** Called after the click. */
  after?(): void
}) {
  const text = textOf(dimension, value)
  if (value === null) return <span class="meta">{text}</span>
  return (
    <FilterButton filters={filtersOf(dimension, value)} title={text} after={after}>
      <Icon dimension={dimension} value={value} />
      {text}
    </FilterButton>
  )
}

/** A count that links to its visitors or events. */
export function Count({
  projectId,
  dimension,
  row,
  of,
}: {
  projectId: string
  dimension: Dimension
  row: Value
  of: 'visitors' | 'events' | 'page_views' | 'sessions'
}) {
  const count = row[of] ?? 0
  // Filters on these values select events, but not sessions.
  if (row.value === null || row.sessions !== null) return <>{wholeNumber(count)}</>
  const more = of === 'page_views' ? ['event_type:eq:page_view'] : []
  return (
    <Drilldown
      projectId={projectId}
      page={of === 'visitors' ? 'visitors' : 'events'}
      filters={[...filtersOf(dimension, row.value), ...more]}
    >
      {wholeNumber(count)}
    </Drilldown>
  )
}

/** A panel's values with their visitors, and the share of all visitors or the conversions of a goal and their revenue. */
export function PanelRows({
  projectId,
  dimension,
  values,
  visitors,
}: {
  projectId: string
  dimension: Dimension
  values: readonly Value[]
  /** All visitors of the period. */
  visitors: number
}) {
  if (values.length === 0) return <p class="meta">Nothing in this period.</p>
  const hasGoal = values.some(({ goal }) => goal)
  const hasRevenue = values.some(({ goal }) => goal?.revenue)
  const most = Math.max(...values.map(({ visitors }) => visitors))
  return (
    <table class={hasGoal ? 'panel-rows with-goal' : 'panel-rows'}>
      <thead>
        <tr>
          <th scope="col">{headOf(dimension)}</th>
          <th scope="col">Visitors</th>
          {hasGoal ? (
            <>
              {/* Names need the room; "Details" has both. */}
              {!hasRevenue && <th scope="col">Converted</th>}
              <th scope="col">Rate</th>
              {hasRevenue && (
                <th scope="col" class="revenue">
                  Revenue
                </th>
              )}
            </>
          ) : (
            <th scope="col" title="Share of all visitors">
              Share
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {values.map((row) => (
          <tr key={row.value}>
            <th scope="row">
              <ShareBar of={row.visitors / most} />
              <ValueName dimension={dimension} value={row.value} />
            </th>
            <td>
              <Count projectId={projectId} dimension={dimension} row={row} of="visitors" />
            </td>
            {row.goal ? (
              <>
                {!hasRevenue && <td>{wholeNumber(row.goal.visitors)}</td>}
                <td>{percent(row.goal.rate)}</td>
                {row.goal.revenue && (
                  <td class="revenue">
                    {moneyOf(row.goal.revenue.value, row.goal.revenue.currency)}
                  </td>
                )}
              </>
            ) : (
              <td>{visitors === 0 ? '–' : percent(row.visitors / visitors)}</td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
