import type { Answer } from '../../../../api/client/index.ts'
import { CsvButton } from '../../components/csvButton.tsx'
import { type Column, DataTable } from '../../components/dataTable.tsx'
import { wholeNumber } from '../../format.ts'
import { changeParams } from '../../urlState.ts'
import { layOut } from './layOut.ts'

type Links = Answer<'getAnalyticsJourneys'>['links']
type Step = Links[number]

/** Label of null: all other pages. */
const other = 'Other pages'

/** Journeys as a Sankey diagram and as a table; a click on a page starts the journeys there. */
export function JourneyChart({ links, isStale }: { links: Links; isStale: boolean }) {
  const { nodes, bands, width, height } = layOut(links)
  return (
    <section
      class={isStale ? 'card headline journeys stale' : 'card headline journeys'}
      aria-label="Journeys"
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section class="table-wide" tabIndex={0} aria-label="Journeys as a diagram">
        <svg
          class="sankey"
          ref={(svg) => svg?.style.setProperty('min-width', `${width * scaleMin}px`)}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label="From page to page. The table below has the same data."
        >
          {bands.map(({ key, path, thickness, title }) => (
            <path key={key} d={path} stroke-width={thickness}>
              <title>{title}</title>
            </path>
          ))}
          {nodes.map(({ key, x, y, height, label, sessions }) => (
            <g key={key}>
              <rect x={x} y={y} width={nodeWidth} height={height} rx="2" />
              <text x={x + nodeWidth + 6} y={y + Math.max(height / 2, 6) + 4}>
                {label ?? other} · {wholeNumber(sessions)}
              </text>
            </g>
          ))}
        </svg>
      </section>
      <DataTable
        caption="Journeys"
        columns={columns}
        rows={links.toSorted((one, other) => other.sessions - one.sessions)}
        keyOf={({ step, from_page, to_page, ends }) => `${step} ${from_page} ${to_page} ${ends}`}
      />
      <div class="actions">
        <CsvButton
          name="journeys"
          head={['step', 'from_page', 'to_page', 'ends', 'sessions']}
          rows={() =>
            links.map(({ step, from_page, to_page, ends, sessions }) => [
              step,
              from_page,
              to_page,
              String(ends),
              sessions,
            ])
          }
        />
      </div>
    </section>
  )
}

const nodeWidth = 10
/** A narrower page scrolls the diagram, so that its text stays readable. */
const scaleMin = 0.8

const columns: Column<Step>[] = [
  {
    name: 'from',
    label: 'From',
    value: ({ from_page }) => from_page ?? other,
    show: ({ from_page }) =>
      from_page === null ? (
        other
      ) : (
        <button
          type="button"
          class="link"
          title={`Start at ${from_page}`}
          onClick={() => changeParams((params) => params.set('start', from_page))}
        >
          {from_page}
        </button>
      ),
  },
  {
    name: 'to',
    label: 'To',
    value: ({ to_page, ends }) => (ends ? 'the journey ends' : (to_page ?? other)),
  },
  { name: 'step', label: 'Step', isNumber: true, value: ({ step }) => step },
  {
    name: 'sessions',
    label: 'Sessions',
    isNumber: true,
    value: ({ sessions }) => sessions,
    show: ({ sessions }) => wholeNumber(sessions),
  },
]
