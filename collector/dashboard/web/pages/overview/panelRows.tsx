import type { ComponentChildren } from 'preact'
import type { Answer } from '../../../../api/client/index.ts'
import { CsvButton } from '../../components/csvButton.tsx'
import { type Column, DataTable } from '../../components/dataTable.tsx'
import { ShareBar } from '../../components/shareBar.tsx'
import { countryName, wholeNumber } from '../../format.ts'
import { Drilldown } from '../../view/drilldown.tsx'
import { FilterButton } from '../../view/filterButton.tsx'
import { filterFor } from '../../view/filterText.ts'
import { labelOfValue } from '../../view/labels.ts'

type Breakdown = Answer<'getAnalyticsBreakdown'>['breakdowns'][string]
type Value = Breakdown['values'][number]

const yesOrNo = (value: string) => (value === 'true' ? 'Identified' : 'Not identified')

/** Dimensions of panels: label, text of a value, text of a missing value, and the filter of a row. */
export const dimensions = {
  page_path: { name: 'Top', none: 'No page' },
  entry_page: {
    name: 'Entry',
    none: 'No page',
    filter: (value: string) => ['is_entry:eq:true', filterFor('page_path', value)],
  },
  exit_page: {
    name: 'Exit',
    none: 'No page',
    filter: (value: string) => [filterFor('page_path', value)],
  },
  referrer_host: { name: 'Referrer', none: 'Direct or unknown' },
  utm_source: { name: 'Source', none: 'No source' },
  utm_medium: { name: 'Medium', none: 'No medium' },
  utm_campaign: { name: 'Campaign', none: 'No campaign' },
  country: { name: 'Country', none: 'Unknown', text: countryName },
  region: { name: 'Region', none: 'Unknown' },
  city: { name: 'City', none: 'Unknown' },
  language: { name: 'Language', none: 'Unknown' },
  device_type: { name: 'Type', none: 'Unknown' },
  browser: { name: 'Browser', none: 'Unknown' },
  os: { name: 'System', none: 'Unknown' },
  event_type: { name: 'Type', none: '–', text: (value) => labelOfValue('event_type', value) },
  page_host: { name: 'Host', none: 'No page' },
  resolved: { name: 'Visitor', none: 'Unknown', text: yesOrNo },
} satisfies Record<
  string,
  { name: string; none: string; text?(value: string): string; filter?(value: string): string[] }
>
export type Dimension = keyof typeof dimensions

const columnNames = { events: 'Events', page_views: 'Page views', sessions: 'Sessions' }

/** The column next to visitors. */
function secondColumn(dimension: Dimension, { sessions }: Value): keyof typeof columnNames {
  if (sessions !== null) return 'sessions'
  return dimension === 'event_type' ? 'events' : 'page_views'
}

/** A panel's values, most visitors first; a click on one filters the whole page by it. */
export function PanelRows({
  projectId,
  dimension,
  breakdown: { values, has_more },
  isWhole,
  showAll,
}: {
  projectId: string
  dimension: Dimension
  breakdown: Breakdown
  /** Whether these are more than a glance takes in, and so can be searched and sorted. */
  isWhole: boolean
  showAll(): void
}) {
  if (values.length === 0) return <p class="meta">Nothing in this period.</p>
  const of: {
    name: string
    none: string
    text?(value: string): string
    filter?(value: string): string[]
  } = dimensions[dimension]
  const second = secondColumn(dimension, values[0]!)
  const secondOf = (row: Value) => row[second] ?? 0
  const most = Math.max(...values.map(({ visitors }) => visitors))
  const textOf = (value: string | null) => (value === null ? of.none : (of.text?.(value) ?? value))
  const filtersOf = (value: string) => of.filter?.(value) ?? [filterFor(dimension, value)]
  const name = ({ value }: Value) =>
    value === null ? (
      <span class="meta">{of.none}</span>
    ) : (
      <FilterButton filters={filtersOf(value)} title={textOf(value)}>
        {textOf(value)}
      </FilterButton>
    )
  // Filters say of events what these values are, but not of sessions.
  const behind = (row: Value, of: 'visitors' | typeof second) => {
    const count = of === 'visitors' ? row.visitors : secondOf(row)
    if (row.value === null || row.sessions !== null) return wholeNumber(count)
    const more = of === 'page_views' ? ['event_type:eq:page_view'] : []
    return (
      <Drilldown
        projectId={projectId}
        page={of === 'visitors' ? 'visitors' : 'events'}
        filters={[...filtersOf(row.value), ...more]}
      >
        {wholeNumber(count)}
      </Drilldown>
    )
  }
  return (
    <>
      {isWhole ? (
        <DataTable
          caption={of.name}
          prefix={`${dimension}_`}
          columns={[
            { name: 'value', label: of.name, value: ({ value }) => textOf(value), show: name },
            countColumn('visitors', 'Visitors', ({ visitors }) => visitors, behind),
            countColumn(second, columnNames[second], secondOf, behind),
          ]}
          rows={values}
          keyOf={({ value }) => String(value)}
        />
      ) : (
        <table class="panel-rows">
          <thead>
            <tr>
              <th scope="col">{of.name}</th>
              <th scope="col">Visitors</th>
              <th scope="col">{columnNames[second]}</th>
            </tr>
          </thead>
          <tbody>
            {values.map((row) => (
              <tr key={row.value}>
                <th scope="row">
                  <ShareBar of={row.visitors / most} />
                  {name(row)}
                </th>
                <td>{behind(row, 'visitors')}</td>
                <td>{behind(row, second)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div class="actions">
        {has_more && !isWhole && (
          <button type="button" onClick={showAll}>
            Show more
          </button>
        )}
        <CsvButton
          name={dimension}
          head={[dimension, 'visitors', second]}
          rows={() => values.map((row) => [row.value, row.visitors, secondOf(row)])}
        />
      </div>
    </>
  )
}

const countColumn = <Name extends string>(
  name: Name,
  label: string,
  value: (row: Value) => number,
  show: (row: Value, of: Name) => ComponentChildren,
): Column<Value> => ({
  name,
  label,
  isNumber: true,
  value,
  show: (row) => show(row, name),
})
