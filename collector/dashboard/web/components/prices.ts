import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { api } from '../api.ts'
import { money, nameOfMeter, records } from './amounts.ts'

/** The price of a meter's records, and how many free records of this month are used. */
export interface Price {
  micros_per_thousand: number
  free_records_per_month: number
  free_records_used: number
}

export type Prices = ReadonlyMap<string, Price>

/** The free answers about people of today. */
interface FreeAnswers {
  per_day: number
  left: number
}

const known = signal<Prices | undefined>(undefined)
const freeAnswers = signal<FreeAnswers | undefined>(undefined)
let asked: Promise<void> | undefined

/** Asks for the organization's prices, also again after records were read. */
export function loadPrices(): Promise<void> {
  asked ??= api
    .getPrices()
    .then(({ prices, free_answers }) => {
      freeAnswers.value = free_answers
      known.value = new Map(prices.map(({ meter, ...price }) => [meter, price]))
    })
    .finally(() => {
      asked = undefined
    })
  return asked
}

/** The organization's prices; undefined while they load. A hook. */
export function usePrices(): { value: Prices | undefined } {
  useEffect(() => {
    // A page works without prices: it then asks before each read.
    if (!known.peek()) void loadPrices().catch(() => {})
  }, [])
  return { value: known.value }
}

/** The free answers of today, as of the last `loadPrices`; undefined while they load. A hook. */
export const useFreeAnswers = (): FreeAnswers | undefined => freeAnswers.value

/** What so many records would cost now, in micros: those of the free allowance cost nothing. */
export function dueFor(prices: Prices, meter: string, count: number): number {
  const price = prices.get(meter)
  if (!price) return 0
  return (Math.max(0, count - freeLeft(price)) * price.micros_per_thousand) / 1000
}

const freeLeft = ({ free_records_per_month, free_records_used }: Price): number =>
  Math.max(0, free_records_per_month - free_records_used)

/**
 * "100 records on the meter Events: free, of the 10,000 free records of this month", or what they cost. Where their
 * number is not known: "$0.10 for every 1,000 records on the meter Events".
 */
export function costOf(prices: Prices, meter: string, count: number | null): string {
  const price = prices.get(meter)
  const of = (number: number) =>
    `${records(number)} ${number === 1 ? 'record' : 'records'} on the meter ${nameOfMeter(meter)}`
  if (!price)
    return count === null ? `each record counts on the meter ${nameOfMeter(meter)}` : of(count)
  const { micros_per_thousand, free_records_per_month } = price
  const left = freeLeft(price)
  if (count === null) {
    const free =
      free_records_per_month > 0
        ? `; ${records(left)} of ${records(free_records_per_month)} free records are left this month`
        : ''
    return `${money(micros_per_thousand)} for every ${of(1_000)}${free}`
  }
  const due = dueFor(prices, meter, count)
  if (due === 0 && micros_per_thousand > 0)
    return `${of(count)}: free, ${records(left)} of ${records(free_records_per_month)} free records are left this month`
  return `${of(count)}: ${money(due)} at most${left > 0 ? `; ${records(left)} of them are free` : ''}`
}
