import { money, records } from './amounts.ts'
import { usePrices } from './prices.ts'

/** Shows the used part of a meter's free allowance, below lists that load without a question. */
export function FreeRecords({ meter }: { meter: string }) {
  const price = usePrices().value?.get(meter)
  if (!price || price.free_records_per_month === 0) return null
  const { free_records_per_month, free_records_used, micros_per_thousand } = price
  const of = records(free_records_per_month)
  return (
    <p class="hint free-records">
      {free_records_used < free_records_per_month
        ? `${records(free_records_used)} of ${of} free records used this month.`
        : `All ${of} free records of this month are used. 1,000 further records cost ${money(micros_per_thousand)}.`}
    </p>
  )
}
