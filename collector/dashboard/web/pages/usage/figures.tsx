import { api, type DailyUsage, type UsageCounts, type UsageQuery } from '../../api.ts'
import { meterNames, money, nameOfMeter, records } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Section } from '../../components/page.tsx'
import { dateText } from '../../format.ts'
import { useQuery } from '../../useQuery.ts'
import { ChargedRequests } from './chargedRequests.tsx'
import { Chart } from './chart.tsx'
import { eachDay } from './periods.ts'

/** Charges of a period: a chart of the days, and a table of the meters. */
export function Figures({ query }: { query: UsageQuery }) {
  const usage = useQuery(() => api.getDailyUsageByMeter(query))
  return (
    <Section
      title="Charged"
      lead={`From ${dateText(query.start_date)} to ${dateText(query.end_date)}.`}
    >
      <AsyncView query={usage}>
        {({ daily }) =>
          daily.length === 0 ? (
            <div class="empty">
              <p>
                No charges in this period. Collecting events, schemas, counts and test keys are
                free.
              </p>
            </div>
          ) : (
            <Found daily={daily} days={eachDay(query)} />
          )
        }
      </AsyncView>
    </Section>
  )
}

function Found({ daily, days }: { daily: DailyUsage[]; days: string[] }) {
  const used = Object.keys(meterNames).filter((meter) =>
    daily.some((usage) => usage.meter === meter),
  )
  const total = sumOf(daily)
  return (
    <div class="card charged">
      <dl class="totals">
        <div>
          <dt>Cost</dt>
          <dd>{money(total.amount_micros)}</dd>
        </div>
        <div>
          <dt>Records</dt>
          <dd>{records(total.records)}</dd>
        </div>
      </dl>
      <Chart
        days={days}
        series={used.map((meter) => {
          const ofDay = new Map(
            daily
              .filter((usage) => usage.meter === meter)
              .map((usage) => [usage.date, usage.records]),
          )
          return { name: nameOfMeter(meter), values: days.map((day) => ofDay.get(day) ?? 0) }
        })}
      />
      <DataTable
        caption="By meter"
        prefix="meters_"
        columns={[meterColumn, ...countColumns]}
        rows={used.map((meter) => ({
          meter,
          ...sumOf(daily.filter((usage) => usage.meter === meter)),
        }))}
        keyOf={({ meter }) => meter}
      />
      <details>
        <summary>By day</summary>
        <DataTable
          caption="By day and meter"
          prefix="days_"
          columns={[
            {
              name: 'day',
              label: 'Day',
              value: ({ day = '' }: Charged) => day,
              show: ({ day = '' }: Charged) => dateText(day),
            },
            meterColumn,
            ...countColumns,
          ]}
          rows={daily.toReversed().map(({ date, ...usage }) => ({ day: date, ...usage }))}
          keyOf={({ day, meter }) => `${day} ${meter}`}
        />
      </details>
    </div>
  )
}

/** Charges on a meter; without `day`, on all days. */
type Charged = UsageCounts & { meter: string; day?: string }

const meterColumn = {
  name: 'meter',
  label: 'Meter',
  value: ({ meter }: Charged) => nameOfMeter(meter),
  show: ({ meter }: Charged) => <span title={meter}>{nameOfMeter(meter)}</span>,
}

const countColumns = [
  {
    name: 'records',
    label: 'Records',
    isNumber: true,
    value: (charged: Charged) => charged.records,
    show: ({ records: count, meter, day }: Charged) => (
      <ChargedRequests of={{ ...(day && { day }), meter }}>{records(count)}</ChargedRequests>
    ),
  },
  {
    name: 'free',
    label: 'Free records',
    isNumber: true,
    value: ({ free_records }: Charged) => free_records,
    show: ({ free_records }: Charged) => records(free_records),
  },
  {
    name: 'cost',
    label: 'Cost',
    isNumber: true,
    value: ({ amount_micros }: Charged) => amount_micros,
    show: ({ amount_micros }: Charged) => money(amount_micros),
  },
]

const sumOf = (usages: UsageCounts[]): UsageCounts =>
  usages.reduce<UsageCounts>(
    (sum, usage) => ({
      records: sum.records + usage.records,
      free_records: sum.free_records + usage.free_records,
      amount_micros: sum.amount_micros + usage.amount_micros,
    }),
    { records: 0, free_records: 0, amount_micros: 0 },
  )
