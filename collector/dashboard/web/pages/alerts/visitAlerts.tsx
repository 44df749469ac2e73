import { useState } from 'preact/hooks'
import { api, type VisitAlert } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Section } from '../../components/page.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { wholeNumber } from '../../format.ts'
import { useQuery } from '../../useQuery.ts'
import { textOf } from '../../view/filterText.ts'
import type { Receivers } from './receivers.ts'
import { receiversColumn } from './receiversColumn.tsx'
import { VisitAlertDialog } from './visitAlertDialog.tsx'

const pauses = {
  budget_exceeded: 'Paused: the budget is used up',
  platform_cap_exceeded: 'Paused: a usage limit is reached',
} as const

const stateOf = ({ active, paused_by }: VisitAlert): string =>
  !active ? 'Off' : paused_by ? pauses[paused_by] : 'On'

/** The rules of a project that report visits of people. */
export function VisitAlerts({
  projectId,
  receivers,
  mayEdit,
}: {
  projectId: string
  receivers: Receivers
  mayEdit: boolean
}) {
  const asked = useQuery(async () => {
    const [{ visit_alerts }, { audiences }] = await Promise.all([
      api.listVisitAlerts({ project_id: projectId }),
      api.listAudiences({ project_id: projectId, limit: 200 }),
    ])
    return { rules: visit_alerts, audiences }
  })
  const [edited, setEdited] = useState<VisitAlert | 'new' | null>(null)
  return (
    <Section
      title="Visits"
      lead="Footfall sends a message within seconds when a person you name visits."
      actions={
        mayEdit && (
          <button type="button" onClick={() => setEdited('new')}>
            New visit alert
          </button>
        )
      }
    >
      <AsyncView query={asked}>
        {({ rules, audiences }) => (
          <>
            <DataTable
              caption="Visit alerts"
              columns={[
                { name: 'name', label: 'Visit alert', value: ({ name }) => name },
                {
                  name: 'match',
                  label: 'Reports',
                  value: ({ match }) => matchText(match, audiences),
                },
                ...(mayEdit ? [receiversColumn<VisitAlert>(receivers, 'visit.matched')] : []),
                { name: 'state', label: 'State', value: stateOf },
                {
                  name: 'matched',
                  label: 'People in 7 days',
                  value: ({ matched_7_days: { verified, unverified } }) =>
                    `${wholeNumber(verified)} verified, ${wholeNumber(unverified)} unverified`,
                },
                {
                  name: 'sent',
                  label: 'Last message',
                  value: ({ last_sent_at }) => last_sent_at,
                  show: ({ last_sent_at }) => last_sent_at && <RelativeTime at={last_sent_at} />,
                },
              ]}
              rows={rules}
              keyOf={({ visit_alert_id }) => visit_alert_id}
              {...(mayEdit && { open: (rule: VisitAlert) => setEdited(rule) })}
              empty={<p>No visit alerts. Create one to hear when a person visits.</p>}
            />
            {edited && (
              <VisitAlertDialog
                projectId={projectId}
                alert={edited === 'new' ? null : edited}
                audiences={audiences}
                receivers={receivers}
                saved={asked.reload}
                close={() => setEdited(null)}
              />
            )}
          </>
        )}
      </AsyncView>
    </Section>
  )
}

/** Returns a match as one line. */
function matchText(
  { kind, hem, company_domain, filter, audience_id }: VisitAlert['match'],
  audiences: readonly { id: string; name: string }[],
): string {
  switch (kind) {
    case 'person':
      return `The person ${hem?.slice(0, 12)}…`
    case 'company':
      return `People of ${company_domain}`
    case 'profile':
      return textOf(filter ?? '')
    case 'audience':
      return `Members of ${audiences.find(({ id }) => id === audience_id)?.name ?? 'a deleted audience'}`
  }
}
