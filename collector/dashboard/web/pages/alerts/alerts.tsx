import { useState } from 'preact/hooks'
import { type Alert, api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Page } from '../../components/page.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { projectRole } from '../../projectRole.ts'
import { useQuery } from '../../useQuery.ts'
import { AlertDialog } from './alertDialog.tsx'
import { conditionText, stateOf } from './conditionText.ts'
import { VisitAlerts } from './visitAlerts.tsx'

/** The conditions of a project that are reported. */
export function Alerts({ projectId }: { projectId: string }) {
  const asked = useQuery(async () => {
    const [{ alerts }, { goals }, { members }, role] = await Promise.all([
      api.listAlerts({ project_id: projectId }),
      api.getAnalyticsGoals({ project_id: projectId }),
      api.listMembers({ limit: 200 }),
      projectRole(projectId),
    ])
    const readers = members.filter(
      ({ status, role, projects }) =>
        status === 'active' &&
        (role !== 'member' || projects.some(({ project_id }) => project_id === projectId)),
    )
    return { alerts, goals, members: readers, mayEdit: role === 'admin' }
  })
  const [edited, setEdited] = useState<Alert | 'new' | null>(null)
  const add = (
    <button type="button" class="primary" onClick={() => setEdited('new')}>
      New alert
    </button>
  )
  return (
    <Page
      title="Alerts"
      lead="Footfall reports unusual figures once a minute, and visits of people within seconds."
      actions={asked.value?.mayEdit && add}
    >
      <div class="wide">
        <AsyncView query={asked}>
          {({ alerts, goals, members, mayEdit }) => (
            <>
              <DataTable
                caption="Alerts"
                columns={[
                  { name: 'name', label: 'Alert', value: ({ name }) => name },
                  {
                    name: 'condition',
                    label: 'Condition',
                    value: ({ condition }) => conditionText(condition),
                  },
                  { name: 'state', label: 'State', value: stateOf },
                  {
                    name: 'changed',
                    label: 'Since',
                    value: ({ changed_at }) => changed_at,
                    show: ({ changed_at }) => changed_at && <RelativeTime at={changed_at} />,
                  },
                ]}
                rows={alerts}
                keyOf={({ alert_id }) => alert_id}
                {...(mayEdit && { open: (alert: Alert) => setEdited(alert) })}
                empty={<p>No alerts. Create one to hear when a figure is unusual.</p>}
              />
              <VisitAlerts projectId={projectId} members={members} mayEdit={mayEdit} />
              {edited && (
                <AlertDialog
                  projectId={projectId}
                  alert={edited === 'new' ? null : edited}
                  goals={goals.map(({ name }) => name)}
                  members={members}
                  saved={asked.reload}
                  close={() => setEdited(null)}
                />
              )}
            </>
          )}
        </AsyncView>
      </div>
    </Page>
  )
}
