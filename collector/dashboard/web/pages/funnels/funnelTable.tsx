import type { Answer } from '../../../../api/client/index.ts'
import { CsvButton } from '../../components/csvButton.tsx'
import { ShareBar } from '../../components/figureMarks.tsx'
import { percent, wholeNumber } from '../../format.ts'
import { Drilldown } from '../../view/drilldown.tsx'
import { textOf } from '../../view/filterText.ts'

type Steps = Answer<'getAnalyticsFunnel'>['steps']

/** The steps of a funnel: visitors, and their share of the first and of the previous step. */
export function FunnelTable({
  projectId,
  steps,
  within,
  isStale,
}: {
  projectId: string
  steps: Steps
  within: string
  isStale: boolean
}) {
  const first = steps[0]!.visitors
  const filters = steps.map(({ filter }) => filter)
  const nextVisitors = (index: number) => steps[index + 1]?.visitors ?? 0
  const share = (visitors: number, of: number) => (of === 0 ? '–' : percent(visitors / of))
  return (
    <section class={isStale ? 'card headline stale' : 'card headline'} aria-label="Funnel">
      <p class="lead">
        <strong class="number">{share(steps.at(-1)!.visitors, first)}</strong> of{' '}
        <span class="number">{wholeNumber(first)}</span> visitors take all {steps.length} steps.
      </p>
      <table class="panel-rows funnel">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">Visitors</th>
            <th scope="col">Of all</th>
            <th scope="col">Of the previous step</th>
            <th scope="col">Stopped here</th>
          </tr>
        </thead>
        <tbody>
          {steps.map(({ filter, visitors }, index) => (
            <tr key={filter}>
              <th scope="row">
                <ShareBar of={first === 0 ? 0 : visitors / first} />
                <span class="text">
                  {index + 1}. {textOf(filter)}
                </span>
              </th>
              <td>
                <Drilldown
                  projectId={projectId}
                  page="visitors"
                  funnel={{ steps: filters, within, step: index + 1, hasStopped: false }}
                >
                  {wholeNumber(visitors)}
                </Drilldown>
              </td>
              <td>{share(visitors, first)}</td>
              <td>{index === 0 ? '' : share(visitors, steps[index - 1]!.visitors)}</td>
              <td>
                {index < steps.length - 1 && (
                  <Drilldown
                    projectId={projectId}
                    page="visitors"
                    funnel={{ steps: filters, within, step: index + 1, hasStopped: true }}
                  >
                    {wholeNumber(visitors - nextVisitors(index))}
                  </Drilldown>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="actions">
        <CsvButton
          name="funnel"
          head={['step', 'filter', 'visitors']}
          rows={() => steps.map(({ filter, visitors }, index) => [index + 1, filter, visitors])}
        />
      </div>
    </section>
  )
}
