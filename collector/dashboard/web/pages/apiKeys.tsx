import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Answer } from '../../../api/client/index.ts'
import { type ApiKey, api, type KeyRole, type OwnProject, ownProjects } from '../api.ts'
import { AsyncList, AsyncView } from '../components/asyncView.tsx'
import { ConfirmDialog } from '../components/confirmDialog.tsx'
import { type Arrangement, byLargest, byText } from '../components/listTools.tsx'
import { Page } from '../components/page.tsx'
import { RelativeTime } from '../components/relativeTime.tsx'
import { exactDay } from '../components/time.ts'
import { toast } from '../components/toast.tsx'
import { isOrganizationAdmin, useSession } from '../session.ts'
import { useQuery } from '../useQuery.ts'
import { NewKeyDialog } from './newKeyDialog.tsx'
import { NewKeySecret } from './newKeySecret.tsx'

/** The only page that creates API keys (spec: Authentication, rule 2). */
export function ApiKeys() {
  const projects = useQuery(ownProjects)
  return <AsyncView query={projects}>{(own) => <Keys projects={own} />}</AsyncView>
}

const arrangement: Arrangement<ApiKey> = {
  text: ({ name, key_prefix, created_by }) => `${name} ${key_prefix} ${created_by ?? ''}`,
  sorts: {
    created: { label: 'Newest first' },
    name: { label: 'By name', compare: byText(({ name }) => name) },
    used: {
      label: 'Last used first',
      compare: byLargest(({ last_used_at }) => last_used_at),
    },
    expires: {
      label: 'First to expire',
      compare: byText(({ expires_at }) => expires_at ?? 'never'),
    },
  },
}

function Keys({ projects }: { projects: OwnProject[] }) {
  const session = useSession()
  const keys = useQuery(async () => (await api.listApiKeys()).keys)
  const isAdmin = isOrganizationAdmin(session)
  const editable = projects.filter(({ role }) => role === 'admin')
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<Answer<'createApiKey'> | null>(null)
  const [revoking, setRevoking] = useState<ApiKey | null>(null)
  const mayCreate = isAdmin || editable.length > 0
  const mayRevoke = (key: ApiKey) =>
    (isAdmin || editable.some(({ project_id }) => project_id === key.project_id)) &&
    (key.role !== 'owner' || session.member.role === 'owner')
  const create = (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      New key
    </button>
  )

  return (
    <Page
      title="API keys"
      lead="A key and its secret give access to events and all other parts of the API."
      actions={mayCreate && keys.value?.length !== 0 && create}
    >
      {created && (
        <NewKeySecret key={created.key.key_id} created={created} done={() => setCreated(null)} />
      )}
      <AsyncList
        query={keys}
        of="API keys"
        arrangement={arrangement}
        empty={<NoKeys create={mayCreate && create} />}
      >
        {(key) => (
          <KeyItem
            key={key.key_id}
            apiKey={key}
            scope={scopeOf(key, projects)}
            revoke={mayRevoke(key) && (() => setRevoking(key))}
          />
        )}
      </AsyncList>

      {isCreating && (
        <NewKeyDialog
          projects={editable}
          created={async (answer) => {
            setCreating(false)
            setCreated(answer)
            await keys.reload()
          }}
          close={() => setCreating(false)}
        />
      )}
      {revoking && (
        <ConfirmDialog
          title={`Revoke “${revoking.name}”?`}
          action="Revoke key"
          confirm={async () => {
            await api.revokeApiKey({ key_id: revoking.key_id })
            setRevoking(null)
            if (created?.key.key_id === revoking.key_id) setCreated(null)
            toast('Key revoked')
            await keys.reload()
          }}
          close={() => setRevoking(null)}
        >
          <p>
            Programs that use <code>{revoking.key_prefix}…</code> are refused within a second. You
            cannot restore a revoked key.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  )
}

function NoKeys({ create }: { create: ComponentChildren }) {
  return create ? (
    <>
      <h2>Create the first key</h2>
      <p>Programs use it to read the data of your pixels.</p>
      {create}
    </>
  ) : (
    <p>You have no API keys. Project admins create the keys of a project.</p>
  )
}

function KeyItem({
  apiKey: key,
  scope,
  revoke,
}: {
  apiKey: ApiKey
  scope: string
  /** False for readers who may not revoke the key. */
  revoke: false | (() => void)
}) {
  return (
    <li>
      <div>
        <span class="name">{key.name}</span>
        <span class="badge">{key.mode === 'live' ? 'Live' : 'Test'}</span>
        <span class="badge quiet">{keyRoleNames[key.role]}</span>
        {isExpired(key) && <span class="badge quiet">Expired</span>}
        <p class="meta">
          <code>{key.key_prefix}…</code> · {scope}
        </p>
        <p class="meta">
          Created <RelativeTime at={key.created_at} />
          {key.created_by && ` by ${key.created_by}`} ·{' '}
          {key.last_used_at ? (
            <>
              last used <RelativeTime at={key.last_used_at} />
            </>
          ) : (
            'never used'
          )}
          {key.expires_at && !isExpired(key) && ` · expires ${exactDay(key.expires_at)}`}
        </p>
      </div>
      {revoke && (
        <div class="actions">
          <button type="button" aria-label={`Revoke ${key.name}`} onClick={revoke}>
            Revoke
          </button>
        </div>
      )}
    </li>
  )
}

const isExpired = ({ expires_at }: ApiKey): boolean =>
  expires_at !== null && Date.parse(expires_at) <= Date.now()

const keyRoleNames: Record<KeyRole, string> = {
  read: 'Reads',
  write: 'Reads and writes',
  admin: 'Has the rights of an admin',
  owner: 'Has the rights of an owner',
}

function scopeOf({ scope, project_id }: ApiKey, projects: OwnProject[]): string {
  if (scope === 'organization') return 'Organization: all projects'
  const name = projects.find((project) => project.project_id === project_id)?.name
  return name ? `Project: ${name}` : 'One project'
}
