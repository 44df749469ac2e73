import { api } from '../../api.ts'
import { money } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Section } from '../../components/page.tsx'
import { useQuery } from '../../useQuery.ts'

/** Cost of this month so far, and the forecast. */
export function Forecast({ projectId }: { projectId: string | undefined }) {
  const forecast = useQuery(() => api.getUsageForecast(projectId ? { project_id: projectId } : {}))
  return (
    <Section
      title="This month"
      lead="The forecast uses the average cost a day of the last week, or since the first charge, for each remaining day."
    >
      <AsyncView query={forecast} lines={4}>
        {({ spent_micros, forecast_micros, daily_average_micros, budget_micros }) => (
          <div class="card">
            <dl class="totals">
              <div>
                <dt>Cost so far</dt>
                <dd>{money(spent_micros)}</dd>
              </div>
              <div>
                <dt>Forecast for the month</dt>
                <dd>{money(forecast_micros)}</dd>
              </div>
              <div>
                <dt>Average a day</dt>
                <dd>{money(daily_average_micros)}</dd>
              </div>
            </dl>
            {budget_micros !== null && (
              <p class={forecast_micros > budget_micros ? 'notice' : 'hint'}>
                {forecast_micros > budget_micros
                  ? `Exceeds the budget of ${money(budget_micros)}. When the budget is used up, requests are refused with 402.`
                  : `Within the budget of ${money(budget_micros)}.`}
              </p>
            )}
          </div>
        )}
      </AsyncView>
    </Section>
  )
}
