import type { Answer } from '../../../../api/client/index.ts'
import { api, type UsageQuery } from '../../api.ts'
import { money, nameOfMeter, records } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Section } from '../../components/page.tsx'
import { useQuery } from '../../useQuery.ts'
import { ChargedRequests } from './chargedRequests.tsx'

type CallerUsage = Answer<'getUsageByKey'>['callers'][number]

/** The cost of each key, by meter. */
export function ByKey({ query }: { query: UsageQuery }) {
  const usage = useQuery(() => api.getUsageByKey(query))
  return (
    <Section
      title="By key"
      lead="Callers and their costs. The numbers of records link to the requests of the last 30 days."
    >
      <AsyncView query={usage}>
        {({ callers }) => (
          <DataTable
            caption="Usage by key and meter"
            prefix="keys_"
            columns={columns}
            rows={callers}
            keyOf={({ caller_id, meter }) => `${caller_id} ${meter}`}
            empty={<p>No key was charged in this period.</p>}
          />
        )}
      </AsyncView>
    </Section>
  )
}

const columns = [
  {
    name: 'key',
    label: 'Key',
    value: (usage: CallerUsage) => `${nameOf(usage)} ${usage.key_prefix ?? ''}`,
    show: (usage: CallerUsage) => (
      <>
        {nameOf(usage)} {usage.key_prefix && <code>{usage.key_prefix}…</code>}
      </>
    ),
  },
  { name: 'meter', label: 'Meter', value: ({ meter }: CallerUsage) => nameOfMeter(meter) },
  {
    name: 'records',
    label: 'Records',
    isNumber: true,
    value: (usage: CallerUsage) => usage.records,
    // Records of exports are charged to runs instead of requests.
    show: ({ records: count, kind, caller_id, meter }: CallerUsage) =>
      kind === 'export' ? (
        records(count)
      ) : (
        <ChargedRequests of={{ caller: caller_id, meter }}>{records(count)}</ChargedRequests>
      ),
  },
  {
    name: 'cost',
    label: 'Cost',
    isNumber: true,
    value: ({ amount_micros }: CallerUsage) => amount_micros,
    show: ({ amount_micros }: CallerUsage) => money(amount_micros),
  },
]

const kinds = { key: 'API key', member: 'Member', export: 'Export' }

const nameOf = ({ name, kind, caller_id }: CallerUsage): string =>
  name === null
    ? `Gone (${caller_id.slice(0, 8)}…)`
    : kind === 'key'
      ? name
      : `${kinds[kind!]}: ${name}`
