import { useState } from 'preact/hooks'
import { AsyncView } from '../../components/asyncView.tsx'
import { type Column, DataTable } from '../../components/dataTable.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { moneyOf, percent, wholeNumber } from '../../format.ts'
import { useQueryOf } from '../../useQuery.ts'
import { type PanelQuery, readBreakdowns, type Value, valuesMax } from './breakdown.ts'
import { type Dimension, headOf, type Property, textOf } from './dimensions.ts'
import { PanelCsv } from './panelCsv.tsx'
import { Count, ValueName } from './panelRows.tsx'
import { PropertyChoice } from './propertyChoice.tsx'

const pageRows = 50

const countNames = { events: 'Events', page_views: 'Page views', sessions: 'Sessions' }
type CountName = keyof typeof countNames

/** The counts that values of a dimension have in addition to visitors. */
const countsOf = (values: readonly Value[]): CountName[] =>
  (Object.keys(countNames) as CountName[]).filter((name) => values[0]?.[name] != null)

const goalColumns: Column<Value>[] = [
  {
    name: 'converted',
    label: 'Converted',
    isNumber: true,
    value: ({ goal }) => goal?.visitors ?? null,
    show: ({ goal }) => wholeNumber(goal?.visitors ?? 0),
  },
  {
    name: 'rate',
    label: 'Rate',
    isNumber: true,
    value: ({ goal }) => goal?.rate ?? null,
    show: ({ goal }) => percent(goal?.rate ?? 0),
  },
]

const revenueColumn: Column<Value> = {
  name: 'revenue',
  label: 'Revenue',
  isNumber: true,
  value: ({ goal }) => goal?.revenue?.value ?? null,
  show: ({ goal }) => (goal?.revenue ? moneyOf(goal.revenue.value, goal.revenue.currency) : '–'),
}

/** All values of a dimension, with search and order. */
export function PanelDetails({
  title,
  query,
  dimension: of,
  visitors,
  close,
}: {
  title: string
  query: PanelQuery
  dimension: Dimension
  /** All visitors of the period. */
  visitors: number
  close(): void
}) {
  const [property, choose] = useState<Property | undefined>(undefined)
  const dimension = property ?? of
  const found = useQueryOf(
    JSON.stringify([query, dimension]),
    async () => (await readBreakdowns(query, [dimension], valuesMax)).get(dimension)!,
  )
  const head = headOf(dimension)
  const columnsFor = (values: readonly Value[]): Column<Value>[] => [
    {
      name: 'value',
      label: head,
      value: ({ value }) => textOf(dimension, value),
      show: ({ value }) => <ValueName dimension={dimension} value={value} after={close} />,
    },
    ...(['visitors', ...countsOf(values)] as const).map(
      (of): Column<Value> => ({
        name: of,
        label: of === 'visitors' ? 'Visitors' : countNames[of],
        isNumber: true,
        value: (row) => row[of],
        show: (row) => (
          <Count projectId={query.project_id} dimension={dimension} row={row} of={of} />
        ),
      }),
    ),
    ...(values[0]?.goal ? goalColumns : []),
    ...(values[0]?.goal?.revenue ? [revenueColumn] : []),
    {
      name: 'share',
      label: 'Share',
      isNumber: true,
      value: (row) => row.visitors,
      show: (row) => (visitors === 0 ? '–' : percent(row.visitors / visitors)),
    },
  ]
  return (
    <Dialog title={`Details of ${title.toLowerCase()}`} close={close} class="wide-dialog">
      {of === 'event_data.name' && (
        <PropertyChoice query={query} chosen={property} choose={choose} />
      )}
      <AsyncView query={found} lines={10}>
        {({ values, has_more }) => (
          <div>
            <DataTable
              caption={`${title} by ${head.toLowerCase()}`}
              prefix={`${dimension}_`}
              columns={columnsFor(values)}
              rows={values}
              keyOf={({ value }) => String(value)}
              pageRows={pageRows}
              empty="Nothing in this period."
            />
            {has_more && (
              <p class="hint">
                These are the {wholeNumber(valuesMax)} with the most visitors. Filter to see others.
              </p>
            )}
          </div>
        )}
      </AsyncView>
      <div class="actions">
        <PanelCsv query={query} dimension={dimension} />
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
