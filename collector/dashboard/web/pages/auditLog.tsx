import { type AuditEntry, api } from '../api.ts'
import { AsyncList } from '../parts/asyncView.tsx'
import { byText } from '../parts/listTools.tsx'
import { Page } from '../parts/page.tsx'
import { RelativeTime } from '../parts/relativeTime.tsx'
import { useListQuery } from '../useQuery.ts'

/** Who changed what; entries are never changed or removed. */
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
            who: { label: 'By who did it', compare: byText(({ actor }) => actor.name) },
          },
        }}
        empty={<p>Nothing has been changed yet.</p>}
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

function Entry({ entry: { actor, action, object_kind, object_id, details, at } }: { entry: AuditEntry }) {
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
        <RelativeTime at={at} /> · <code>{object_id}</code>
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

const verbs: Record<string, string> = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
  join: 'joined as',
  password: 'changed the password of',
  revoke: 'revoked',
  limits: 'set budgets and limits of the',
  read: 'looked at who people are, of the',
}

/** "pixel.update" → "changed". */
function said(action: string): string {
  const verb = action.slice(action.indexOf('.') + 1)
  return verbs[verb] ?? verb
}

const isChange = (fact: unknown): fact is { from: unknown; to: unknown } =>
  typeof fact === 'object' && fact !== null && 'from' in fact && 'to' in fact

function show(value: unknown): string {
  if (value === null || value === '') return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
