import { counted } from '../format.ts'
import { records } from './amounts.ts'
import type { ChargedRead } from './chargedRead.tsx'
import { costOf, usePrices } from './prices.ts'

/** Shows the price of reading the first records, before the read. */
export function Cost({
  total,
  count,
  noun,
  action,
  read,
}: {
  /** The total number of records. */
  total: number
  /** The number of records to read. */
  count: number
  /** The noun for one record. */
  noun: string
  action: string
  read: ChargedRead
}) {
  const prices = usePrices()
  return (
    <div class="empty">
      <p>
        {total > count ? `The first ${records(count)} cost` : 'They cost'} money:{' '}
        {prices.value ? costOf(prices.value, 'events', count) : '…'}.
      </p>
      <button
        type="button"
        class="primary"
        aria-disabled={read.isReading}
        onClick={() => read.read()}
      >
        {read.isReading ? 'One moment…' : `${action} ${counted(count, noun)}`}
      </button>
    </div>
  )
}
