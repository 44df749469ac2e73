import { useState } from 'preact/hooks'
import type { Answer } from '../../../../api/client/index.ts'
import { ApiError, api, messageOf } from '../../api.ts'
import { records } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { CsvButton } from '../../components/csvButton.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { costOf, usePrices } from '../../components/prices.ts'
import { exactTime } from '../../components/time.ts'
import { counted } from '../../format.ts'
import { setUrl } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'
import { textOf } from '../../view/filterText.ts'
import { type FunnelStep, withins } from '../../view/funnelView.ts'
import { NoEvents } from '../../view/noEvents.tsx'
import type { ViewQuery } from '../../view/view.ts'
import { BrowserDialog } from './browserDialog.tsx'

type Page = Answer<'listAnalyticsVisitors'>
type Visitor = Page['visitors'][number]

const pageLength = 100

const timeOf = (millis: number): string => exactTime(new Date(millis).toISOString())

/** Returns the number of visitors of a view, or of a funnel's step; free. */
async function countVisitors(query: ViewQuery, funnel: FunnelStep | null): Promise<number> {
  if (!funnel) return (await api.getAnalyticsOverview(query)).overview.visitors
  const { steps } = await api.getAnalyticsFunnel({
    ...query,
    steps: [...funnel.steps],
    within_ms: Number(funnel.within),
  })
  const at = (step: number) => steps[step - 1]?.visitors ?? 0
  return at(funnel.step) - (funnel.hasStopped ? at(funnel.step + 1) : 0)
}

/** The browsers that a figure counts as visitors, read after the user agreed to pay. */
export function Browsers({ query, funnel }: { query: ViewQuery; funnel: FunnelStep | null }) {
  const prices = usePrices()
  const total = useQuery(() => countVisitors(query, funnel))
  const [found, setFound] = useState<Page | null>(null)
  const [shown, show] = useState<Visitor | null>(null)
  const [fault, setFault] = useState('')
  const read = async () => {
    setFault('')
    try {
      const page = await api.listAnalyticsVisitors({
        ...query,
        limit: pageLength,
        ...(found?.next_cursor && { cursor: found.next_cursor }),
        ...(funnel && {
          steps: [...funnel.steps],
          within_ms: Number(funnel.within),
          step: funnel.step,
          outcome: funnel.hasStopped ? 'dropped' : 'reached',
        }),
      })
      setFound({ ...page, visitors: [...(found?.visitors ?? []), ...page.visitors] })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFault(messageOf(error))
    }
  }
  return (
    <>
      {funnel && <StepText funnel={funnel} />}
      <AsyncView query={total} lines={4}>
        {(count) =>
          count === 0 ? (
            funnel ? (
              <p class="empty">Nobody.</p>
            ) : (
              <NoEvents projectId={query.project_id} />
            )
          ) : found === null ? (
            <div class="empty">
              <h2>
                <span class="number">{records(count)}</span> {count === 1 ? 'visitor' : 'visitors'}
              </h2>
              <p>
                Listing {count > pageLength ? `the first ${pageLength}` : 'them'} costs{' '}
                {prices.value ? costOf(prices.value, 'events', Math.min(count, pageLength)) : '…'}.
              </p>
              <button type="button" class="primary" onClick={read}>
                List {counted(Math.min(count, pageLength), 'visitor')}
              </button>
            </div>
          ) : (
            <>
              <p class="hint" role="status">
                {records(found.visitors.length)} of {counted(count, 'visitor')}. Each is a browser.
              </p>
              <DataTable
                caption="Visitors"
                columns={[
                  {
                    name: 'cookie_id',
                    label: 'Browser',
                    value: ({ cookie_id }: Visitor) => cookie_id,
                  },
                  {
                    name: 'known',
                    label: 'Known',
                    value: ({ resolved }: Visitor) => (resolved ? 'yes' : 'no'),
                  },
                  {
                    name: 'events',
                    label: 'Events',
                    isNumber: true,
                    value: ({ events }: Visitor) => events,
                  },
                  {
                    name: 'first',
                    label: 'First event',
                    value: ({ first_ms }: Visitor) => first_ms,
                    show: ({ first_ms }: Visitor) => timeOf(first_ms),
                  },
                  {
                    name: 'last',
                    label: 'Last event',
                    value: ({ last_ms }: Visitor) => last_ms,
                    show: ({ last_ms }: Visitor) => timeOf(last_ms),
                  },
                ]}
                rows={found.visitors}
                keyOf={({ cookie_id }) => cookie_id}
                open={(row) => show(row)}
              />
              <div class="actions">
                {found.next_cursor && (
                  <button type="button" onClick={read}>
                    List {pageLength} more
                  </button>
                )}
                <CsvButton
                  name="visitors"
                  head={['cookie_id', 'resolved', 'events', 'first_ms', 'last_ms']}
                  rows={() =>
                    found.visitors.map(({ cookie_id, resolved, events, first_ms, last_ms }) => [
                      cookie_id,
                      String(resolved),
                      events,
                      first_ms,
                      last_ms,
                    ])
                  }
                />
              </div>
            </>
          )
        }
      </AsyncView>
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {shown && (
        <BrowserDialog
          title="Visitor"
          query={query}
          cookieId={shown.cookie_id}
          identity="Person of this browser"
          close={() => show(null)}
        >
          <p>
            <code>{shown.cookie_id}</code>
          </p>
        </BrowserDialog>
      )}
    </>
  )
}

/** The selected visitors, and a link to all. */
function StepText({ funnel: { steps, within, step, hasStopped } }: { funnel: FunnelStep }) {
  return (
    <p>
      Visitors who took {hasStopped ? `no more than ${step}` : step} of these steps{' '}
      {withins[within]}: {steps.map(textOf).join(', then ')}.{' '}
      <button
        type="button"
        class="link"
        onClick={() => setUrl({ step: '', within: '', at: '', outcome: '' })}
      >
        Show all visitors
      </button>
    </p>
  )
}
