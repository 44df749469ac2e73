import type { Tenant } from '../../../../api/client/index.ts'
import { api } from '../../api.ts'
import { money } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Section } from '../../components/page.tsx'
import { useQuery } from '../../useQuery.ts'
import { count } from './amounts.ts'

const columns = [
  { name: 'name', label: 'Organization', value: ({ name }: Tenant) => name },
  ...(
    [
      ['events', 'Events', ({ events }) => events, count],
      ['charged', 'Charged', ({ amount_micros }) => amount_micros, money],
      ['projects', 'Projects', ({ projects }) => projects, count],
      ['members', 'Members', ({ members }) => members, count],
    ] satisfies [string, string, (tenant: Tenant) => number, (value: number) => string][]
  ).map(([name, label, value, text]) => ({
    name,
    label,
    isNumber: true,
    value,
    show: (tenant: Tenant) => text(value(tenant)),
  })),
]

/** Organizations with the highest load. */
export function Tenants() {
  const tenants = useQuery(async () => (await api.listTopTenants()).tenants)
  return (
    <Section
      title="Top organizations"
      lead="Events of the last 30 days; charges of this month (UTC)."
    >
      <AsyncView query={tenants}>
        {(found) => (
          <DataTable
            caption="Top organizations"
            prefix="tenants_"
            columns={columns}
            rows={found}
            keyOf={({ organization_id }) => organization_id}
            empty={<p>No organization has events or charges yet.</p>}
          />
        )}
      </AsyncView>
    </Section>
  )
}
