import { api, type DailyUsage, type UsageCounts, type UsageQuery } from '../../api.ts'
import { AsyncView } from '../../parts/asyncView.tsx'
import { Section } from '../../parts/page.tsx'
import { useQuery } from '../../useQuery.ts'
import { meterNames, money, nameOfMeter, records } from './amounts.ts'
import { ChargedRequests } from './chargedRequests.tsx'
import { Chart } from './chart.tsx'
import { eachDay } from './periods.ts'

/** What was charged in a span of days: a chart of the days, and a table of the meters. */
export function Figures({ query }: { query: UsageQuery }) {
  const usage = useQuery(() => api.getDailyUsageByMeter(query))
  return (
    <Section title="Charged" lead={`From ${query.start_date} to ${query.end_date}.`}>
      <AsyncView query={usage}>
        {({ daily }) =>
          daily.length === 0 ? (
            <div class="empty">
              <p>
                Nothing was charged in these days. Collecting events, schemas, counts and test keys are free.
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
  const used = Object.keys(meterNames).filter((meter) => daily.some((usage) => usage.meter === meter))
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
            daily.filter((usage) => usage.meter === meter).map((usage) => [usage.date, usage.records]),
          )
          return { name: nameOfMeter(meter), values: days.map((day) => ofDay.get(day) ?? 0) }
        })}
      />
      <Table
        caption="By meter"
        head="Meter"
        rows={used.map((meter) => [
          nameOfMeter(meter),
          sumOf(daily.filter((usage) => usage.meter === meter)),
          { meter },
        ])}
      />
      <details>
        <summary>By day</summary>
        <Table
          caption="By day and meter"
          head="Day"
          rows={daily
            .toReversed()
            .map((usage) => [
              `${usage.date} · ${nameOfMeter(usage.meter)}`,
              usage,
              { day: usage.date, meter: usage.meter },
            ])}
        />
      </details>
    </div>
  )
}

function Table({
  caption,
  head,
  rows,
}: {
  caption: string
  head: string
  rows: [name: string, counts: UsageCounts, of: { day?: string; meter: string }][]
}) {
  return (
    <table>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{head}</th>
          <th scope="col">Records</th>
          <th scope="col">Of these free</th>
          <th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, counts, of]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <ChargedRequests of={of}>{records(counts.records)}</ChargedRequests>
            </td>
            <td>{records(counts.free_records)}</td>
            <td>{money(counts.amount_micros)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const sumOf = (usages: UsageCounts[]): UsageCounts =>
  usages.reduce<UsageCounts>(
    (sum, usage) => ({
      records: sum.records + usage.records,
      free_records: sum.free_records + usage.free_records,
      amount_micros: sum.amount_micros + usage.amount_micros,
    }),
    { records: 0, free_records: 0, amount_micros: 0 },
  )
