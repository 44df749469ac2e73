import type { Answer } from '../../../../api/client/index.ts'
import { CsvButton } from '../../components/csvButton.tsx'
import { percent, startOf, wholeNumber } from '../../format.ts'
import { NoEvents } from '../../view/noEvents.tsx'

type Retention = Answer<'getAnalyticsRetention'>

/** Cohorts as rows, the intervals after as columns; the more come again, the stronger the color. */
export function CohortTable({
  projectId,
  interval,
  cohorts,
  isStale,
}: {
  projectId: string
  interval: Retention['interval']
  cohorts: Retention['cohorts']
  isStale: boolean
}) {
  const filled = cohorts.filter(({ visitors }) => visitors > 0)
  if (filled.length === 0) return <NoEvents projectId={projectId} />
  const columns = Math.max(...filled.map(({ returned }) => returned.length))
  const after = Array.from({ length: columns }, (_, index) => index)
  return (
    <section class={isStale ? 'card headline stale' : 'card headline'} aria-label="Cohorts">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section class="table-wide" tabIndex={0} aria-label="Cohorts as a table">
        <table class="cohorts">
          <thead>
            <tr>
              <th scope="col">First seen</th>
              <th scope="col">Visitors</th>
              {after.map((index) => (
                <th key={index} scope="col">
                  {index === 0 ? `Same ${interval}` : `+${index}`}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {filled.map(({ start_ms, visitors, returned }) => (
              <tr key={start_ms}>
                <th scope="row">{startOf(interval, start_ms)}</th>
                <td>{wholeNumber(visitors)}</td>
                {returned.map((came, index) => (
                  <td
                    key={index}
                    title={`${wholeNumber(came)} visitors`}
                    ref={(cell) => cell?.style.setProperty('--share', `${(45 * came) / visitors}%`)}
                  >
                    {percent(came / visitors)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div class="actions">
        <CsvButton
          name="retention"
          head={['first_seen', 'visitors', ...after.map((index) => `plus_${index}`)]}
          rows={() =>
            filled.map(({ start_ms, visitors, returned }) => [
              new Date(start_ms).toISOString(),
              visitors,
              ...returned,
            ])
          }
        />
      </div>
    </section>
  )
}
