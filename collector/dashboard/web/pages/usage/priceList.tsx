import { meterNames, money, nameOfMeter, records } from '../../components/amounts.ts'
import { DataTable } from '../../components/dataTable.tsx'
import { Section } from '../../components/page.tsx'
import { type Price, usePrices } from '../../components/prices.ts'

/** What reading costs, by meter. */
export function PriceList() {
  const prices = usePrices().value
  if (!prices) return null
  return (
    <Section
      title="Prices"
      lead="Of records that are read. Collecting events, figures and test keys are free."
    >
      <DataTable
        caption="Prices"
        prefix="prices_"
        columns={columns}
        rows={Object.keys(meterNames).flatMap((meter) => {
          const price = prices.get(meter)
          return price ? [{ meter, ...price }] : []
        })}
        keyOf={({ meter }) => meter}
        canSearch={false}
      />
    </Section>
  )
}

type MeterPrice = Price & { meter: string }

const columns = [
  { name: 'meter', label: 'Meter', value: ({ meter }: MeterPrice) => nameOfMeter(meter) },
  {
    name: 'price',
    label: '1,000 records',
    isNumber: true,
    value: ({ micros_per_thousand }: MeterPrice) => micros_per_thousand,
    show: ({ micros_per_thousand }: MeterPrice) => money(micros_per_thousand),
  },
  {
    name: 'free',
    label: 'Free a month',
    isNumber: true,
    value: ({ free_records_per_month }: MeterPrice) => free_records_per_month,
    show: ({ free_records_per_month }: MeterPrice) => records(free_records_per_month),
  },
  {
    name: 'used',
    label: 'Free records used',
    isNumber: true,
    value: ({ free_records_used }: MeterPrice) => free_records_used,
    show: ({ free_records_used }: MeterPrice) => records(free_records_used),
  },
]
