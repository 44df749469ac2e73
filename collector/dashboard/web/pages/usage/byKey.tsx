import type { Answer } from '../../../../../client/index.ts'
import { api, type UsageQuery } from '../../api.ts'
import { AsyncView } from '../../parts/asyncView.tsx'
import { arranged, byLargest, byText, ListTools } from '../../parts/listTools.tsx'
import { Section } from '../../parts/page.tsx'
import { useQuery } from '../../useQuery.ts'
import { money, nameOfMeter, records } from './amounts.ts'

type CallerUsage = Answer<'getUsageByKey'>['callers'][number]

const prefix = 'keys_'
const sorts = {
  cost: { label: 'Dearest first' },
  records: { label: 'Most records first', compare: byLargest<CallerUsage>(({ records }) => records) },
  name: { label: 'By name', compare: byText<CallerUsage>((usage) => nameOf(usage)) },
  meter: { label: 'By meter', compare: byText<CallerUsage>(({ meter }) => nameOfMeter(meter)) },
}

/** What each key cost, on each meter. */
export function ByKey({ query }: { query: UsageQuery }) {
  const usage = useQuery(() => api.getUsageByKey(query))
  return (
    <Section title="By key" lead="Who read, and what it cost.">
      <AsyncView query={usage}>
        {({ callers }) => (callers.length === 0 ? <Nothing /> : <Found callers={callers} />)}
      </AsyncView>
    </Section>
  )
}

const Nothing = () => (
  <div class="empty">
    <p>No key was charged in these days.</p>
  </div>
)

function Found({ callers }: { callers: CallerUsage[] }) {
  const text = (usage: CallerUsage) =>
    `${nameOf(usage)} ${usage.key_prefix ?? ''} ${nameOfMeter(usage.meter)}`
  return (
    <div class="card">
      <ListTools of="usage by key" prefix={prefix} sorts={sorts} />
      <table>
        <caption class="visually-hidden">Usage by key and meter</caption>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Meter</th>
            <th scope="col">Records</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {arranged(callers, { text, sorts }, prefix).map((usage) => (
            <tr key={`${usage.caller_id} ${usage.meter}`}>
              <th scope="row">
                {nameOf(usage)} {usage.key_prefix && <code>{usage.key_prefix}…</code>}
              </th>
              <td>{nameOfMeter(usage.meter)}</td>
              <td>{records(usage.records)}</td>
              <td>{money(usage.amount_micros)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const kinds = { key: 'API key', member: 'Member', export: 'Export' }

const nameOf = ({ name, kind, caller_id }: CallerUsage): string =>
  name === null ? `Gone (${caller_id.slice(0, 8)}…)` : kind === 'key' ? name : `${kinds[kind!]}: ${name}`
