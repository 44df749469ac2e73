import { type AuditEntry, api, ownProjects } from '../api.ts'
import { AsyncList } from '../components/asyncView.tsx'
import { byText } from '../components/listTools.tsx'
import { Page } from '../components/page.tsx'
import { RelativeTime } from '../components/relativeTime.tsx'
import { exactTime } from '../components/time.ts'
import { useListQuery, useQuery } from '../useQuery.ts'
import { labelOfField } from '../view/labels.ts'

/** Changes, sign-ins and reads of identities with their actors; entries are never changed or removed. */
export function AuditLog() {
  const projects = useQuery(ownProjects)
  const names = new Map(projects.value?.map(({ project_id, name }) => [project_id, name]))
  const entries = useListQuery(
    (cursor) => api.listAuditLog({ cursor }),
    ({ entries }) => entries,
  )
  return (
    <Page title="Audit log" lead="Who changed what, signed in or viewed identities, newest first.">
      <AsyncList
        query={entries}
        of="entries"
        arrangement={{
          text: ({ actor, action, object_kind, object_id, object_name, details }) =>
            `${actor.name} ${said(action)} ${object_kind} ${object_name ?? ''} ${object_id} ${JSON.stringify(details)}`,
          sorts: {
            newest: { label: 'Newest first' },
            oldest: { label: 'Oldest first', compare: byText(({ at }) => at) },
            who: { label: 'By user', compare: byText(({ actor }) => actor.name) },
          },
        }}
        empty={<p>No entries yet.</p>}
      >
        {(entry) => (
          <li key={entry.entry_id}>
            <Entry entry={entry} names={names} />
          </li>
        )}
      </AsyncList>
    </Page>
  )
}

function Entry({
  entry: { actor, action, object_kind, object_id, object_name, details, at },
  names,
}: {
  entry: AuditEntry
  /** The names of projects, by their ids. */
  names: ReadonlyMap<string, string>
}) {
  const facts = Object.entries(details)
  const projectName = names.get(String(details.project_id))
  return (
    <div>
      <p>
        <span class="name">{actor.name}</span> {actor.kind === 'key' && '(API key) '}
        {said(action)}{' '}
        {!isSignIn(action) && (
          <>
            {kindNames[object_kind] ?? object_kind.replaceAll('_', ' ')}{' '}
            {object_name && <span class="name">{object_name}</span>}
          </>
        )}
        {projectName && ` in ${projectName}`}
      </p>
      <p class="meta">
        <time dateTime={at} title={`Id of the object: ${object_id}`}>
          {exactTime(at)}
        </time>{' '}
        (<RelativeTime at={at} />)
      </p>
      {(facts.length > 0 || object_id) && (
        <details>
          <summary>Details</summary>
          <dl class="facts details">
            <div>
              <dt>Object id</dt>
              <dd>
                <code>{object_id}</code>
              </dd>
            </div>
            {facts.map(([name, fact]) => (
              <div key={name}>
                <dt>{labelOfField(name)}</dt>
                <dd>
                  {isChange(fact)
                    ? `${show(fact.from)} → ${show(fact.to)}`
                    : (names.get(String(fact)) ?? show(fact))}
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  )
}

/** Names of objects that are not the API's words with spaces. */
const kindNames: Record<string, string> = { opt_out: 'an opt-out', key: 'API key' }

/** The text for the second word of an action; for some actions the complete text. */
const verbs: Record<string, string> = {
  add_items: 'added to the',
  'analytics_goals.replaced': 'set the goals of the',
  cancel: 'cancelled a run of the',
  clone: 'copied the',
  create: 'created',
  delete: 'deleted',
  download: 'downloaded identities of the',
  email: 'changed the e-mail address of',
  hand_over: 'handed over the',
  'intent_rules.replaced': 'set the intent rules of the',
  join: 'joined as',
  limits: 'set budgets and limits of the',
  password: 'changed the password of',
  password_reset: 'chose a password by link for',
  read: 'viewed the identities of the',
  recovery_codes: 'created new recovery codes of',
  remove_items: 'removed from the',
  retry: 'retried a run of the',
  revoke: 'revoked',
  rotate_secret: 'rotated the secret of the',
  run: 'ran the',
  sign_in: 'signed in',
  sign_in_failed: 'failed to sign in',
  'subject.export': 'exported the data of a',
  two_factor: 'changed two-factor authentication of',
  update: 'changed',
}

/** Converts "pixel.update" to "changed". */
function said(action: string): string {
  const verb = action.slice(action.indexOf('.') + 1)
  return verbs[action] ?? verbs[verb] ?? verb.replaceAll('_', ' ')
}

/** Whether the actor is the object, too. */
const isSignIn = (action: string): boolean => /\.sign_in(_failed)?$/.test(action)

const isChange = (fact: unknown): fact is { from: unknown; to: unknown } =>
  typeof fact === 'object' && fact !== null && 'from' in fact && 'to' in fact

function show(value: unknown): string {
  if (value === null || value === '') return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
