import { useState } from 'preact/hooks'
import { ApiError, api, messageOf } from '../../api.ts'
import { records } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { costOf, usePrices } from '../../components/prices.ts'
import { counted } from '../../format.ts'
import { useQuery } from '../../useQuery.ts'
import { NoEvents } from '../../view/noEvents.tsx'
import type { EventsAsked } from './eventsAsked.ts'

const bytes = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'megabyte',
  maximumFractionDigits: 1,
})

/** The size, cost and scan of a read before it is made, all for free. */
export function Cost({ asked, run }: { asked: EventsAsked; run(): Promise<void> }) {
  const { select, limit, order: _, ...selection } = asked
  const prices = usePrices()
  const known = useQuery(async () => {
    const [{ total }, { estimate }] = await Promise.all([
      api.countEvents(selection),
      api.estimateEventScan({ ...selection, select, limit: Math.min(limit, 1_000) }),
    ])
    return { total, estimate }
  })
  const [isRunning, setRunning] = useState(false)
  const [fault, setFault] = useState('')
  const start = async () => {
    setRunning(true)
    try {
      await run()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFault(messageOf(error))
      setRunning(false)
    }
  }
  return (
    <>
      {/* With the price, so that the text does not grow after it is shown. */}
      <AsyncView
        query={{ ...known, value: prices.value && known.value, error: known.error ?? prices.error }}
        lines={4}
      >
        {({ total, estimate }) =>
          total === 0 ? (
            <>
              <NoEvents projectId={asked.project_id} />
              <p class="hint">Rejected events are on the page Live.</p>
            </>
          ) : (
            <div class="empty">
              <h2>
                <span class="number">{records(total)}</span>{' '}
                {total === 1 ? 'event matches' : 'events match'}
              </h2>
              <p>
                Reading {total > limit ? `the ${order(asked)} ${limit}` : 'them'} costs{' '}
                {prices.value ? costOf(prices.value, 'events', Math.min(total, limit)) : '…'}.
                ClickHouse scans about {records(estimate.rows)} rows,{' '}
                {bytes.format(estimate.bytes / 1e6)}.
              </p>
              <button type="button" class="primary" aria-disabled={isRunning} onClick={start}>
                {isRunning ? 'Please wait…' : `Read ${counted(Math.min(total, limit), 'event')}`}
              </button>
            </div>
          )
        }
      </AsyncView>
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
    </>
  )
}

const order = ({ order }: EventsAsked): string => (order === 'asc' ? 'oldest' : 'newest')
