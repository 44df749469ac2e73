import type { Answer } from '../../../../../client/index.ts'
import { downloadCsv } from '../../csv.ts'
import { wholeNumber } from '../../format.ts'
import { changeParams } from '../../urlState.ts'
import { layOut } from './layOut.ts'

type Links = Answer<'getAnalyticsJourneys'>['links']

/** What null is called: pages that are not told apart. */
const other = 'Other pages'

/** Journeys as a Sankey diagram, and the same as a table; a click on a page begins there. */
export function JourneyChart({ links, isStale }: { links: Links; isStale: boolean }) {
  const { nodes, bands, width, height } = layOut(links)
  const begin = (page: string) => changeParams((params) => params.set('start', page))
  return (
    <section class={isStale ? 'card headline stale' : 'card headline'} aria-label="Journeys">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section class="table-wide" tabIndex={0} aria-label="Journeys as a diagram">
        <svg
          class="sankey"
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label="From page to page; the table below says the same."
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
      <div>
        <table class="panel-rows journeys">
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">To</th>
              <th scope="col">Step</th>
              <th scope="col">Sessions</th>
            </tr>
          </thead>
          <tbody>
            {links
              .filter(({ to_page }) => to_page !== null)
              .toSorted((one, other) => other.sessions - one.sessions)
              .slice(0, 12)
              .map(({ step, from_page, to_page, sessions }) => (
                <tr key={`${step} ${from_page} ${to_page}`}>
                  <th scope="row">
                    {from_page === null ? (
                      other
                    ) : (
                      <button type="button" class="plain" onClick={() => begin(from_page)}>
                        {from_page}
                      </button>
                    )}
                  </th>
                  <td>{to_page}</td>
                  <td>{step}</td>
                  <td>{wholeNumber(sessions)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
      <div class="actions">
        <button
          type="button"
          onClick={() =>
            downloadCsv(
              'journeys',
              ['step', 'from_page', 'to_page', 'ends', 'sessions'],
              links.map(({ step, from_page, to_page, ends, sessions }) => [
                ...[step, from_page, to_page, String(ends), sessions],
              ]),
            )
          }
        >
          CSV
        </button>
      </div>
    </section>
  )
}

const nodeWidth = 10
