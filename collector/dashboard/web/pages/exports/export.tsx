import { useState } from 'preact/hooks'
import { api, type Export, type ExportRun } from '../../api.ts'
import { recordsOrDash } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { ConfirmDialog } from '../../components/confirmDialog.tsx'
import { Moment } from '../../components/moment.tsx'
import { Page, Section } from '../../components/page.tsx'
import { PagedTable } from '../../components/pagedTable.tsx'
import { toast } from '../../components/toast.tsx'
import { useProjectPath } from '../../projectPath.ts'
import { go, Link } from '../../router.tsx'
import { setUrl, urlValue } from '../../urlState.ts'
import { useListQuery, useQuery, useRepeat } from '../../useQuery.ts'
import { destinationNames, formatNames } from '../integrations/destinationFields.ts'
import { Failures } from './failures.tsx'
import { RetryDialog } from './retryDialog.tsx'
import { RunDialog } from './runDialog.tsx'
import { RunResult } from './runResult.tsx'
import { statusNames } from './runStatus.ts'

const pollMs = 1_000

/** One export: its runs with their outcomes, and buttons to run and retry. */
export function ExportPage({ exportId }: { projectId: string; exportId: string }) {
  const found = useQuery(async () => (await api.getExport({ export_id: exportId })).export)
  return (
    <AsyncView query={found} lines={8}>
      {(one) => <Loaded export={one} />}
    </AsyncView>
  )
}

function Loaded({ export: one }: { export: Export }) {
  const pathTo = useProjectPath(one.project_id)
  const export_id = one.id
  const runs = useListQuery(
    (cursor) => api.listExportRuns({ export_id, cursor }),
    ({ runs }) => runs,
  )
  const [isDeleting, setDeleting] = useState(false)
  const [isRetrying, setRetrying] = useState(false)
  const [isStarting, setStarting] = useState(urlValue('start') === 'ask')
  const isUnderWay = runs.value?.some(({ ended_at }) => ended_at === null)
  useRepeat(runs.reload, pollMs, isUnderWay ?? false)
  const chosen = runs.value?.find(({ run_id }) => run_id === urlValue('run')) ?? runs.value?.[0]
  const then = async (work: Promise<{ run: ExportRun }>, text: string) => {
    const { run } = await work
    toast(text)
    setUrl({ run: run.run_id })
    await runs.reload()
  }
  return (
    <Page
      title={one.name}
      lead={
        <>
          <Link href={pathTo('exports')}>Exports</Link> <span aria-hidden="true">/</span> to{' '}
          {destinationNames[one.integration_type]} as {formatNames[one.output_format]},{' '}
          {one.schedule}
        </>
      }
      actions={
        <>
          <button type="button" class="primary" onClick={() => setStarting(true)}>
            Run now…
          </button>
          <button type="button" onClick={() => setDeleting(true)}>
            Delete
          </button>
        </>
      }
    >
      <div class="wide">
        {chosen && <RunResult run={chosen} />}
        <Section title="Runs" lead="Open a run to see its failed records.">
          <PagedTable
            caption="Runs"
            query={runs}
            empty={<p>No runs yet.</p>}
            columns={runColumns}
            keyOf={({ run_id }) => run_id}
            open={({ run_id }) => setUrl({ run: run_id })}
          />
        </Section>
        {chosen && (
          <Failures
            key={`${chosen.run_id} ${chosen.ended_at}`}
            projectId={one.project_id}
            run={chosen}
            retry={() => setRetrying(true)}
            cancel={() =>
              then(api.cancelExportRun({ export_id, run_id: chosen.run_id }), 'Cancelled')
            }
          />
        )}
      </div>
      {isStarting && (
        <RunDialog
          export={one}
          start={() => then(api.createExportRun({ export_id }), 'Run started')}
          close={() => {
            setStarting(false)
            setUrl({ start: '' }, { replace: true })
          }}
        />
      )}
      {isRetrying && chosen && (
        <RetryDialog
          export={one}
          failed={chosen.records_failed ?? null}
          start={() =>
            then(api.retryExportRun({ export_id, run_id: chosen.run_id }), 'Retry started')
          }
          close={() => setRetrying(false)}
        />
      )}
      {isDeleting && <DeleteExportDialog export={one} close={() => setDeleting(false)} />}
    </Page>
  )
}

function DeleteExportDialog({ export: one, close }: { export: Export; close(): void }) {
  const pathTo = useProjectPath(one.project_id)
  return (
    <ConfirmDialog
      title={`Delete “${one.name}”?`}
      action="Delete export"
      confirm={async () => {
        await api.deleteExport({ export_id: one.id })
        toast('Export deleted')
        go(pathTo('exports'))
      }}
      close={close}
    >
      <p>Its runs and their results are deleted. Records that were sent stay at the destination.</p>
    </ConfirmDialog>
  )
}

const count = (
  name:
    | 'records_total'
    | 'records_exported'
    | 'records_failed'
    | 'records_duplicated'
    | 'records_charged',
  label: string,
) => ({
  name,
  label,
  isNumber: true,
  value: (run: ExportRun) => run[name] ?? null,
  show: (run: ExportRun) => recordsOrDash(run[name]),
})

const runColumns = [
  {
    name: 'requested',
    label: 'Requested',
    value: ({ requested_at }: ExportRun) => requested_at,
    show: ({ requested_at }: ExportRun) => <Moment at={requested_at} />,
  },
  {
    name: 'status',
    label: 'Status',
    value: ({ status }: ExportRun) => status,
    show: (run: ExportRun) => (
      <span class="wraps">
        <span
          class={`badge ${run.status === 'failed' ? 'bad' : run.status === 'completed' ? '' : 'quiet'}`}
        >
          {statusNames[run.status]}
        </span>
        {run.retry_of && ' retry'}
        {run.error && ` ${run.error}`}
      </span>
    ),
  },
  count('records_total', 'Records'),
  count('records_exported', 'Exported'),
  count('records_failed', 'Failed'),
  count('records_duplicated', 'Duplicate'),
  count('records_charged', 'Charged'),
]
