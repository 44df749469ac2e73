import { api } from '../../api.ts'
import { AsyncView } from '../../parts/asyncView.tsx'
import { Section } from '../../parts/page.tsx'
import { RelativeTime } from '../../parts/relativeTime.tsx'
import { toast } from '../../parts/toast.tsx'
import { useQuery } from '../../useQuery.ts'

/** Where one is signed in. */
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
      title="Where you are signed in"
      lead="A session that you do not know: end it, then change your password."
      actions={
        (sessions.value?.length ?? 0) > 1 && (
          <button type="button" onClick={endOthers}>
            End all others
          </button>
        )
      }
    >
      <AsyncView query={sessions}>
        {(found) => (
          <ul class="rows">
            {found.map(({ session_id, is_current, browser, os, address, created_at, last_used_at }) => {
              const device = [browser, os].filter(Boolean).join(' on ') || 'Unknown browser'
              return (
                <li key={session_id}>
                  <div>
                    <span class="name">{device}</span>
                    {is_current && <span class="badge">This one</span>}
                    <p class="meta">
                      {address && `${address} · `}signed in <RelativeTime at={created_at} /> · used{' '}
                      <RelativeTime at={last_used_at} />
                    </p>
                  </div>
                  {!is_current && (
                    <div class="actions">
                      <button
                        type="button"
                        aria-label={`End the session of ${device}`}
                        onClick={() => end(session_id)}
                      >
                        End
                      </button>
                    </div>
                  )}
                </li>
              )
            })}
          </ul>
        )}
      </AsyncView>
    </Section>
  )
}
