import { type AuditEntry, api } from '../api.ts'
import { AsyncList } from '../components/asyncView.tsx'
import { byText } from '../components/listTools.tsx'
import { Page } from '../components/page.tsx'
import { RelativeTime } from '../components/relativeTime.tsx'
import { exactTime } from '../components/time.ts'
import { useListQuery } from '../useQuery.ts'

/** Changes with their actors; entries are never changed or removed. */
export function AuditLog() {
  const entries = useListQuery(
    (cursor) => api.listAuditLog({ cursor }),
    ({ entries }) => entries,
  )
  return (
    <Page title="Audit log" lead="Who changed what, newest first.">
      <AsyncList
        query={entries}
        of="entries"
        arrangement={{
          text: ({ actor, action, object_kind, object_id, details }) =>
            `${actor.name} ${said(action)} ${object_kind} ${object_id} ${JSON.stringify(details)}`,
          sorts: {
            newest: { label: 'Newest first' },
            oldest: { label: 'Oldest first', compare: byText(({ at }) => at) },
            who: { label: 'By user', compare: byText(({ actor }) => actor.name) },
          },
        }}
        empty={<p>No changes yet.</p>}
      >
        {(entry) => (
          <li key={entry.entry_id}>
            <Entry entry={entry} />
          </li>
        )}
      </AsyncList>
    </Page>
  )
}

function Entry({
  entry: { actor, action, object_kind, object_id, details, at },
}: {
  entry: AuditEntry
}) {
  const facts = Object.entries(details)
  const name = details.name ?? details.email
  return (
    <div>
      <p>
        <span class="name">{actor.name}</span> {actor.kind === 'key' && '(API key) '}
        {said(action)} {object_kind.replaceAll('_', ' ')}{' '}
        {typeof name === 'string' && <span class="name">{name}</span>}
      </p>
      <p class="meta">
        <time dateTime={at}>{exactTime(at)}</time> (<RelativeTime at={at} />) ·{' '}
        <code>{object_id}</code>
      </p>
      {facts.length > 0 && (
        <details>
          <summary>Details</summary>
          <dl class="facts details">
            {facts.map(([name, fact]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{isChange(fact) ? `${show(fact.from)} → ${show(fact.to)}` : show(fact)}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  )
}

/** The text for the second word of an action; for some actions the complete text. */
const verbs: Record<string, string> = {
  add_items: 'added to the',
  'analytics_goals.replaced': 'set the goals of the',
  cancel: 'cancelled a run of the',
  clone: 'copied the',
  create: 'created',
  delete: 'deleted',
  email: 'changed the e-mail address of',
  hand_over: 'handed over the',
  'intent_rules.replaced': 'set the intent rules of the',
  join: 'joined as',
  limits: 'set budgets and limits of the',
  password: 'changed the password of',
  password_reset: 'set, by a link, the password of',
  read: 'viewed the identities of the',
  recovery_codes: 'created new recovery codes of',
  remove_items: 'removed from the',
  retry: 'retried a run of the',
  revoke: 'revoked',
  rotate_secret: 'rotated the secret of the',
  run: 'ran the',
  'subject.export': 'exported the data of a',
  two_factor: 'changed two-factor authentication of',
  update: 'changed',
}

/** Converts "pixel.update" to "changed". */
function said(action: string): string {
  const verb = action.slice(action.indexOf('.') + 1)
  return verbs[action] ?? verbs[verb] ?? verb.replaceAll('_', ' ')
}

const isChange = (fact: unknown): fact is { from: unknown; to: unknown } =>
  typeof fact === 'object' && fact !== null && 'from' in fact && 'to' in fact

function show(value: unknown): string {
  if (value === null || value === '') return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
