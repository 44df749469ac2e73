import { api } from '../api.ts'
import { type QueryState, useQuery } from '../useQuery.ts'
import { money, nameOfMeter, records } from './amounts.ts'

/** The price of a record on each meter. */
interface Price {
  micros_per_thousand: number
  free_records_per_month: number
}

type Prices = ReadonlyMap<string, Price>

let asked: Promise<Prices> | undefined

/** Returns the organization's prices, which are requested once. A hook. */
export const usePrices = (): QueryState<Prices> => useQuery(readPrices)

function readPrices(): Promise<Prices> {
  asked ??= api
    .getPrices()
    .then(({ prices }) => new Map(prices.map(({ meter, ...price }) => [meter, price])))
    .catch((error: unknown) => {
      asked = undefined
      throw error
    })
  return asked
}

/**
 * Returns a text such as "100 records on the meter Events: $0.01 at most; the first 10,000 of a month are
 * free". If the number is unknown: "$0.10 for every 1,000 records on the meter Events".
 */
export function costOf(prices: Prices, meter: string, count: number | null): string {
  const price = prices.get(meter)
  const of = (number: number) =>
    `${records(number)} ${number === 1 ? 'record' : 'records'} on the meter ${nameOfMeter(meter)}`
  if (!price)
    return count === null ? `each record counts on the meter ${nameOfMeter(meter)}` : of(count)
  const { micros_per_thousand, free_records_per_month } = price
  const free =
    free_records_per_month > 0
      ? `; the first ${records(free_records_per_month)} of a month are free`
      : ''
  if (count === null) return `${money(micros_per_thousand)} for every ${of(1_000)}${free}`
  return `${of(count)}: ${money((count * micros_per_thousand) / 1000)} at most${free}`
}
