import { counted } from '../format.ts'
import { records } from './amounts.ts'
import type { ChargedRead } from './chargedRead.tsx'
import { costOf, usePrices } from './prices.ts'

/** The price of a read of the first records, before it is made. */
export function Cost({
  total,
  count,
  noun,
  action,
  read,
}: {
  /** How many records there are. */
  total: number
  /** How many of them are read. */
  count: number
  /** One of them, in the singular. */
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
