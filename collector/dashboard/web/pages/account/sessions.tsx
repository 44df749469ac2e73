import { api } from '../../api.ts'
import { AsyncList } from '../../components/asyncView.tsx'
import { byLargest, byText } from '../../components/listTools.tsx'
import { Section } from '../../components/page.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { toast } from '../../components/toast.tsx'
import { useQuery } from '../../useQuery.ts'

type OwnSession = Awaited<ReturnType<typeof api.listSessions>>['sessions'][number]

const deviceOf = ({ browser, os }: OwnSession): string =>
  [browser, os].filter(Boolean).join(' on ') || 'Unknown browser'

/** The user's active sessions. */
export function Sessions() {
  const sessions = useQuery(async () => (await api.listSessions()).sessions)
  const endOthers = async () => {
    const { ended } = await api.endOtherSessions()
    toast(ended === 1 ? '1 session ended' : `${ended} sessions ended`)
    await sessions.reload()
  }
  const end = async (session_id: string) => {
    await api.endSession({ session_id })
    toast('Session ended')
    await sessions.reload()
  }
  return (
    <Section
      title="Active sessions"
      lead="If you do not recognize a session, end it and change your password."
      actions={
        (sessions.value?.length ?? 0) > 1 && (
          <button type="button" onClick={endOthers}>
            End all others
          </button>
        )
      }
    >
      <AsyncList
        query={sessions}
        of="sessions"
        prefix="sessions_"
        arrangement={{
          text: (session) => `${deviceOf(session)} ${session.address ?? ''}`,
          sorts: {
            first: { label: 'In default order' },
            used: {
              label: 'Last used first',
              compare: byLargest(({ last_used_at }) => last_used_at),
            },
            device: { label: 'By device', compare: byText(deviceOf) },
          },
        }}
        empty={<p>No active sessions.</p>}
      >
        {(session) => (
          <li key={session.session_id}>
            <div>
              <span class="name">{deviceOf(session)}</span>
              {session.is_current && <span class="badge">This session</span>}
              <p class="meta">
                {session.address && `${session.address} · `}signed in{' '}
                <RelativeTime at={session.created_at} /> · used{' '}
                <RelativeTime at={session.last_used_at} />
              </p>
            </div>
            {!session.is_current && (
              <div class="actions">
                <button
                  type="button"
                  aria-label={`End the session of ${deviceOf(session)}`}
                  onClick={() => end(session.session_id)}
                >
                  End
                </button>
              </div>
            )}
          </li>
        )}
      </AsyncList>
    </Section>
  )
}
