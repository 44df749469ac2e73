import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { projectRole } from '../../projectRole.ts'
import { useQuery } from '../../useQuery.ts'
import { EmailSummary } from './emailSummary.tsx'
import { ShareLinks } from './shareLinks.tsx'

/** A project's figures for people who do not sign in, and by e-mail. */
export function Sharing({ projectId }: { projectId: string }) {
  const role = useQuery(() => projectRole(projectId))
  return (
    <Page title="Sharing" lead="The overview for people without an account.">
      <div class="wide">
        <AsyncView query={role}>
          {(found) =>
            found === 'admin' ? (
              <ShareLinks projectId={projectId} />
            ) : (
              <div class="empty">
                <p>A project admin can share its overview.</p>
              </div>
            )
          }
        </AsyncView>
        <EmailSummary projectId={projectId} />
      </div>
    </Page>
  )
}
