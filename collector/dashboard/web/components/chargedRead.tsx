import { useEffect, useState } from 'preact/hooks'
import { ApiError, messageOf } from '../api.ts'
import { dueFor, loadPrices, usePrices } from './prices.ts'

/** The state of a charged read. */
export interface ChargedRead {
  /** Whether the user must accept the price first. */
  mustAsk: boolean
  isReading: boolean
  /** The error of the last read; '' if it succeeded. */
  fault: string
  read(): Promise<void>
}

/**
 * Reads records, once for each `key`. It reads at once if the free allowance covers them; otherwise after the user
 * accepts the price. A hook.
 */
export function useChargedRead(
  { key, meter, count, isRead }: { key: string; meter: string; count: number; isRead: boolean },
  ask: () => Promise<void>,
): ChargedRead {
  const prices = usePrices().value
  const [isReading, setReading] = useState(false)
  const [fault, setFault] = useState('')
  const isFree = prices !== undefined && dueFor(prices, meter, count) === 0
  const read = async () => {
    setReading(true)
    setFault('')
    try {
      await ask()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFault(messageOf(error))
    } finally {
      setReading(false)
      void loadPrices().catch(() => {})
    }
  }
  const isDecided = prices !== undefined
  useEffect(() => {
    if (isFree && !isRead) void read()
    // The allowance is checked only before the read, because the read itself uses it.
  }, [key, isDecided])
  return { mustAsk: isDecided && !isFree && !isRead, isReading, fault, read }
}

/** Shows the error of a charged read. */
export const ReadFault = ({ of: { fault } }: { of: ChargedRead }) =>
  fault === '' ? null : (
    <p class="fault" role="alert">
      {fault}
    </p>
  )
