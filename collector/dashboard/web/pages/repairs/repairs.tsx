import { Page } from '../../components/page.tsx'
import { isOrganizationAdmin, useSession } from '../../session.ts'
import { EventDeletions } from './eventDeletions.tsx'
import { LinkRemovals } from './linkRemovals.tsx'
import { RejectedEvents } from './rejectedEvents.tsx'

/** Repairs wrong data: rejected events, events that should not exist, and wrong identity links. */
export function Repairs({ projectId }: { projectId: string }) {
  const mayRepair = isOrganizationAdmin(useSession())
  return (
    <Page
      title="Repairs"
      lead="Resend rejected events, delete wrong ones, and remove wrong identity links. The audit log has each repair."
    >
      <div class="wide">
        {!mayRepair && (
          <p class="notice">Only owners and admins of the organization may repair data.</p>
        )}
        <RejectedEvents projectId={projectId} mayRepair={mayRepair} />
        {mayRepair && <EventDeletions projectId={projectId} />}
        {mayRepair && <LinkRemovals />}
      </div>
    </Page>
  )
}
