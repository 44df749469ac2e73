import type { Tenant } from '../../../../../client/index.ts'
import { api } from '../../api.ts'
import { AsyncView } from '../../parts/asyncView.tsx'
import { arranged, byLargest, byText, ListTools } from '../../parts/listTools.tsx'
import { Section } from '../../parts/page.tsx'
import { useQuery } from '../../useQuery.ts'
import { money } from '../usage/amounts.ts'
import { count } from './amounts.ts'

const prefix = 'tenants_'
const sorts = {
  events: { label: 'Most events first' },
  spent: { label: 'Most charged first', compare: byLargest<Tenant>(({ amount_micros }) => amount_micros) },
  name: { label: 'By name', compare: byText<Tenant>(({ name }) => name) },
}

/** Whose load it is. */
export function Tenants() {
  const tenants = useQuery(async () => (await api.listTopTenants()).tenants)
  return (
    <Section title="Top organizations" lead="Events of the last 30 days; charges of this month (UTC).">
      <AsyncView query={tenants}>
        {(found) =>
          found.length === 0 ? (
            <div class="empty">
              <p>No organization has events or charges yet.</p>
            </div>
          ) : (
            <div class="card">
              <ListTools of="organizations" prefix={prefix} sorts={sorts} />
              <table>
                <caption class="visually-hidden">Top organizations</caption>
                <thead>
                  <tr>
                    <th scope="col">Organization</th>
                    <th scope="col">Events</th>
                    <th scope="col">Charged</th>
                    <th scope="col">Projects</th>
                    <th scope="col">Members</th>
                  </tr>
                </thead>
                <tbody>
                  {arranged(found, { text: ({ name }) => name, sorts }, prefix).map((tenant) => (
                    <tr key={tenant.organization_id}>
                      <th scope="row">{tenant.name}</th>
                      <td>{count(tenant.events)}</td>
                      <td>{money(tenant.amount_micros)}</td>
                      <td>{count(tenant.projects)}</td>
                      <td>{count(tenant.members)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </AsyncView>
    </Section>
  )
}
