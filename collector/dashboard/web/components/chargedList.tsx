import type { ComponentChildren } from 'preact'
import { type ChargedRead, ReadFault } from './chargedRead.tsx'
import { Cost } from './cost.tsx'
import { FreeRecords } from './freeRecords.tsx'
import { costOf, dueFor, usePrices } from './prices.ts'
import { Skeleton } from './skeleton.tsx'

/** A list of events or visitors: the price before the first read, then the rows and a button for more. */
export function ChargedList({
  read,
  total,
  limit,
  noun,
  action,
  found,
  empty,
  tools,
  children,
}: {
  read: ChargedRead
  /** The number of all records; undefined until it is known. */
  total: number | undefined
  /** The number of records of one read. */
  limit: number
  /** The noun for one record, and the verb for reading it. */
  noun: string
  action: string
  /** The records that were read; null before the first read. */
  found: { count: number; hasMore: boolean } | null
  /** Shown if there are no records. */
  empty: ComponentChildren
  /** Further buttons below the rows. */
  tools?: ComponentChildren
  /** The rows. */
  children: ComponentChildren
}) {
  const prices = usePrices().value
  const costsMore = found?.hasMore && prices && dueFor(prices, 'events', limit) > 0
  return (
    <>
      {total === 0 || found?.count === 0 ? (
        empty
      ) : read.mustAsk && total !== undefined ? (
        <Cost
          total={total}
          count={Math.min(total, limit)}
          noun={noun}
          action={action}
          read={read}
        />
      ) : found === null ? (
        read.fault === '' && <Skeleton lines={8} />
      ) : (
        <>
          {children}
          <footer class="list-footer">
            {found.hasMore && (
              <button type="button" aria-disabled={read.isReading} onClick={() => read.read()}>
                {read.isReading ? 'One moment…' : `${action} ${limit} more`}
              </button>
            )}
            {tools}
            {costsMore ? (
              <p class="hint">{costOf(prices, 'events', limit)}</p>
            ) : (
              <FreeRecords meter="events" />
            )}
          </footer>
        </>
      )}
      <ReadFault of={read} />
    </>
  )
}
