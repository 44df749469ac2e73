import type { Column } from '../../components/dataTable.tsx'
import { Change } from '../../components/figureMarks.tsx'
import { moneyOf, percent, wholeNumber } from '../../format.ts'
import type { Value, Values } from './breakdown.ts'
import { type Dimension, headOf, textOf } from './dimensions.ts'
import { Count, ValueName } from './panelRows.tsx'

/** The values of a dimension, those of the compared period, and the address of the site that has the pages. */
export interface PanelRow extends Values {
  before: Values | undefined
  site: string | undefined
}

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

/** The change of visitors against the compared period. */
function changeColumn({ values, has_more }: Values): Column<Value> {
  const before = new Map(values.map(({ value, visitors }) => [value, visitors]))
  // A value beyond the limit may have had some.
  const wasOf = ({ value }: Value) => before.get(value) ?? (has_more ? null : 0)
  return {
    name: 'change',
    label: 'Change',
    isNumber: true,
    value: (row) => {
      const was = wasOf(row)
      return was ? row.visitors / was - 1 : null
    },
    show: (row) => {
      const was = wasOf(row)
      if (was === null) return '–'
      return (
        <span title={`Before: ${wholeNumber(was)}`}>
          {was === 0 ? 'new' : <Change now={row.visitors} before={was} />}
        </span>
      )
    },
  }
}

/** The columns for values of a dimension. */
export function columnsOf({
  dimension,
  projectId,
  visitors,
  found: { values, before, site },
  close,
}: {
  dimension: Dimension
  projectId: string
  /** All visitors of the period. */
  visitors: number
  found: PanelRow
  /** Called when a click on a value filters the page. */
  close(): void
}): Column<Value>[] {
  return [
    {
      name: 'value',
      label: headOf(dimension),
      value: ({ value }) => textOf(dimension, value),
      show: ({ value }) => (
        <>
          <ValueName dimension={dimension} value={value} after={close} />{' '}
          {site && value?.startsWith('/') && (
            <a href={site + value} target="_blank" rel="noreferrer" aria-label={`Open ${value}`}>
              ↗
            </a>
          )}
        </>
      ),
    },
    ...(['visitors', ...countsOf(values)] as const).map(
      (of): Column<Value> => ({
        name: of,
        label: of === 'visitors' ? 'Visitors' : countNames[of],
        isNumber: true,
        value: (row) => row[of],
        show: (row) => <Count projectId={projectId} dimension={dimension} row={row} of={of} />,
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
    ...(before ? [changeColumn(before)] : []),
  ]
}
