import type { Answer } from '../../../../api/client/index.ts'
import { CsvButton } from '../../components/csvButton.tsx'
import { counted, percent, startOf, wholeNumber } from '../../format.ts'
import { NoEvents } from '../../view/noEvents.tsx'

type Retention = Answer<'getAnalyticsRetention'>

/** Cohorts as rows, later intervals as columns; a higher share has a stronger color. */
export function CohortTable({
  projectId,
  interval,
  cohorts,
  isOpen,
  isStale,
}: {
  projectId: string
  interval: Retention['interval']
  cohorts: Retention['cohorts']
  /** Whether the last interval is still running. */
  isOpen: boolean
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
            {filled.length > 1 && (
              <tr class="all">
                <th scope="row">All visitors</th>
                <td>{wholeNumber(sumOf(filled, ({ visitors }) => visitors))}</td>
                {after.map((index) => {
                  // An interval that is still running would lower the share.
                  const ended = index > 0 && isOpen ? index + 1 : index
                  const over = filled.filter(({ returned }) => returned.length > ended)
                  return over.length === 0 ? (
                    <td key={index} />
                  ) : (
                    <Share
                      key={index}
                      came={sumOf(over, ({ returned }) => returned[index]!)}
                      visitors={sumOf(over, ({ visitors }) => visitors)}
                      interval={interval}
                      isRunning={false}
                    />
                  )
                })}
              </tr>
            )}
            {filled.map(({ start_ms, visitors, returned }) => (
              <tr key={start_ms}>
                <th scope="row">{startOf(interval, start_ms)}</th>
                <td>{wholeNumber(visitors)}</td>
                {returned.map((came, index) => (
                  <Share
                    key={index}
                    came={came}
                    visitors={visitors}
                    interval={interval}
                    isRunning={isOpen && index > 0 && index === returned.length - 1}
                  />
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

const sumOf = <Row,>(rows: readonly Row[], of: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0)

/** Visitors of a cohort in one interval. The current interval has no share without visitors. */
function Share({
  came,
  visitors,
  interval,
  isRunning,
}: {
  came: number
  visitors: number
  interval: Retention['interval']
  isRunning: boolean
}) {
  return (
    <td
      class={isRunning ? 'running' : ''}
      title={
        isRunning
          ? `${counted(came, 'visitor')} so far. This ${interval} is not over.`
          : counted(came, 'visitor')
      }
      ref={(cell) => cell?.style.setProperty('--share', `${(45 * came) / visitors}%`)}
    >
      {isRunning && came === 0 ? '–' : percent(came / visitors)}
    </td>
  )
}
