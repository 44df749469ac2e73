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
import { readReceivers } from './receivers.ts'
import { receiversColumn } from './receiversColumn.tsx'
import { VisitAlerts } from './visitAlerts.tsx'

/** The conditions of a project that are reported. */
export function Alerts({ projectId }: { projectId: string }) {
  const asked = useQuery(async () => {
    const [{ alerts }, { goals }, role] = await Promise.all([
      api.listAlerts({ project_id: projectId }),
      api.getAnalyticsGoals({ project_id: projectId }),
      projectRole(projectId),
    ])
    const mayEdit = role === 'admin'
    return { alerts, goals, receivers: await readReceivers(projectId, mayEdit), mayEdit }
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
          {({ alerts, goals, receivers, mayEdit }) => (
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
                  ...(mayEdit ? [receiversColumn<Alert>(receivers, 'alert.raised')] : []),
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
              <VisitAlerts projectId={projectId} receivers={receivers} mayEdit={mayEdit} />
              {edited && (
                <AlertDialog
                  projectId={projectId}
                  alert={edited === 'new' ? null : edited}
                  goals={goals.map(({ name }) => name)}
                  receivers={receivers}
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
