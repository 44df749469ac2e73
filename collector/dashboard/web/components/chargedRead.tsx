import { useEffect, useState } from 'preact/hooks'
import { ApiError, messageOf } from '../api.ts'
import { dueFor, loadPrices, usePrices } from './prices.ts'

/** How a charged read stands. */
export interface ChargedRead {
  /** Whether the reader must agree to the price first. */
  mustAsk: boolean
  isReading: boolean
  /** Why the last read failed; '' where it did not. */
  fault: string
  read(): Promise<void>
}

/**
 * Reads records without asking while the free allowance covers them, once for each `key`; else when the reader agrees
 * to the price. A hook.
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
    // The allowance that the read itself uses up decides nothing any more.
  }, [key, isDecided])
  return { mustAsk: isDecided && !isFree && !isRead, isReading, fault, read }
}

/** Why a charged read failed. */
export const ReadFault = ({ of: { fault } }: { of: ChargedRead }) =>
  fault === '' ? null : (
    <p class="fault" role="alert">
      {fault}
    </p>
  )
