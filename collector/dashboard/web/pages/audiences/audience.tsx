import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { nameOfMeter, records } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { ConfirmDialog } from '../../components/confirmDialog.tsx'
import { JsonTree } from '../../components/jsonTree.tsx'
import { Page, Section } from '../../components/page.tsx'
import { exactTime } from '../../components/time.ts'
import { toast } from '../../components/toast.tsx'
import { useProjectPath } from '../../projectPath.ts'
import { go, Link } from '../../router.tsx'
import { useQuery, useRepeat } from '../../useQuery.ts'
import { ExportDialog } from '../exports/exportDialog.tsx'
import type { Audience } from './audiences.tsx'
import { Builds } from './builds.tsx'
import type { Definition } from './draft.ts'
import { Explain } from './explain.tsx'
import { Files } from './files.tsx'
import { sentenceOf } from './sentence.ts'

const pollMs = 1_000

/** One audience: the progress of its build, changes, files, and explanations of members. */
export function AudiencePage({ projectId, audienceId }: { projectId: string; audienceId: string }) {
  const audience = useQuery(
    async () =>
      (await api.getAudience({ project_id: projectId, audience_id: audienceId })).audience,
  )
  return (
    <AsyncView query={audience} lines={8}>
      {(found) => <Loaded key={found.build_id} audience={found} reload={audience.reload} />}
    </AsyncView>
  )
}

function Loaded({ audience, reload }: { audience: Audience; reload(): Promise<void> }) {
  const pathTo = useProjectPath(audience.project_id)
  const [isDeleting, setDeleting] = useState(false)
  const [isSending, setSending] = useState(false)
  const ids = { project_id: audience.project_id, audience_id: audience.id }
  return (
    <Page
      title={audience.name}
      lead={
        <>
          <Link href={pathTo('audiences')}>Audiences</Link> <span aria-hidden="true">/</span>{' '}
          {audience.entity}, charged on the meter {nameOfMeter(audience.meter)}
        </>
      }
      actions={
        <>
          <button type="button" class="primary" onClick={() => setSending(true)}>
            Send to…
          </button>
          <Link class="button" href={pathTo(`audiences/${audience.id}/edit`)}>
            Change
          </Link>
          <button type="button" onClick={() => setDeleting(true)}>
            Delete
          </button>
        </>
      }
    >
      <div class="wide">
        <Progress audience={audience} reload={reload} />
        <Files audience={audience} />
        <Builds audience={audience} />
        <Explain audience={audience} />
        <Section title="Definition">
          <div class="card">
            <DefinitionText audience={audience} />
            <details>
              <summary>As the API takes it</summary>
              <JsonTree value={audience.definition} />
            </details>
          </div>
        </Section>
      </div>
      {isSending && (
        <ExportDialog
          projectId={audience.project_id}
          audience={audience}
          created={(id) => go(`${pathTo(`exports/${id}`)}?start=ask`)}
          close={() => setSending(false)}
        />
      )}
      {isDeleting && (
        <ConfirmDialog
          title={`Delete “${audience.name}”?`}
          action="Delete audience"
          confirm={async () => {
            await api.deleteAudience(ids)
            toast('Audience deleted')
            go(pathTo('audiences'))
          }}
          close={() => setDeleting(false)}
        >
          <p>
            Its builds and files are deleted. You cannot delete an audience that another audience or
            an export uses.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  )
}

/** The definition as a sentence, with the names of the lists and audiences in it. */
function DefinitionText({ audience: { project_id, definition } }: { audience: Audience }) {
  const names = useQuery(async () => {
    const [{ lists }, { audiences }] = await Promise.all([
      api.listLists({ project_id }),
      api.listAudiences({ project_id }),
    ])
    return Object.fromEntries([...lists, ...audiences].map(({ id, name }) => [id, name]))
  })
  return <p>{sentenceOf(definition as unknown as Definition, names.value)}</p>
}

/** How far the newest build is, looked at until it is done. */
function Progress({ audience, reload }: { audience: Audience; reload(): Promise<void> }) {
  const ids = { project_id: audience.project_id, audience_id: audience.id }
  const [state, setState] = useState({ status: audience.status, progress: 0, error: '' })
  const isUnderWay = state.status === 'pending' || state.status === 'unloading'
  const look = async () => {
    const { status, progress, error = '' } = await api.getAudienceStatus(ids)
    setState({ status, progress, error })
    if (status === 'completed') await reload()
  }
  useRepeat(look, pollMs, isUnderWay)
  const { low, medium, high } = audience.bucket_counts
  const hasBuckets = [low, medium, high].some((count) => count)
  return (
    <div class="card" role="status">
      {isUnderWay && (
        <p>
          Building… <progress value={state.progress} max={1} aria-label="Progress of the build" />{' '}
          <span class="number">{Math.round(state.progress * 100)} %</span>
        </p>
      )}
      {state.status === 'failed' && (
        <p class="fault">The newest build failed: {state.error || 'see its builds'}</p>
      )}
      <dl class="totals">
        <div>
          <dt>Members</dt>
          <dd>{audience.count === null ? '–' : records(audience.count)}</dd>
        </div>
        {hasBuckets && (
          <div>
            <dt>Interest: low, medium, high</dt>
            <dd>
              {records(low ?? 0)} · {records(medium ?? 0)} · {records(high ?? 0)}
            </dd>
          </div>
        )}
        <div>
          <dt>Built</dt>
          <dd class="moment">{audience.built_at ? exactTime(audience.built_at) : 'not yet'}</dd>
        </div>
      </dl>
      {audience.count === null && audience.built_at && (
        <p class="hint">
          The free answers of this day were used up when the audience was built. The number appears
          at midnight (UTC), or when you read the records.
        </p>
      )}
    </div>
  )
}
