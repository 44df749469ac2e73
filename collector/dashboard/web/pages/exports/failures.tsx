import { api, type ExportRun } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Section } from '../../components/page.tsx'
import { PagedTable } from '../../components/pagedTable.tsx'
import { projectRole } from '../../projectRole.ts'
import { urlChoice } from '../../urlState.ts'
import { useListQuery, useQuery } from '../../useQuery.ts'

type Failure = Awaited<ReturnType<typeof api.listExportFailures>>['failures'][number]

const outcomes = ['failed', 'duplicated'] as const

/** The records of a run that were not sent, with reasons; a retry sends only these. */
export function Failures({
  projectId,
  run,
  retry,
  cancel,
}: {
  projectId: string
  run: ExportRun
  retry(): void
  cancel(): Promise<void>
}) {
  const [outcome, choose] = urlChoice('outcome', outcomes)
  const role = useQuery(() => projectRole(projectId))
  return (
    <Section
      title="Records that were not sent"
      actions={
        <>
          {run.ended_at === null && (
            <button type="button" onClick={cancel}>
              Cancel the run
            </button>
          )}
          {run.ended_at !== null && (run.records_failed ?? 1) > 0 && (
            <button type="button" class="primary" onClick={retry}>
              Retry failed records…
            </button>
          )}
        </>
      }
    >
      <div class="toolbar">
        <label>
          Outcome{' '}
          <select
            value={outcome}
            onChange={({ currentTarget: { value } }) => choose(value as typeof outcome)}
          >
            {outcomes.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </div>
      <AsyncView query={role}>
        {(found) =>
          found === 'admin' ? (
            <Found key={outcome} run={run} outcome={outcome} />
          ) : (
            <div class="empty">
              <p>These records identify people. Only project admins can see them.</p>
            </div>
          )
        }
      </AsyncView>
    </Section>
  )
}

function Found({
  run: { export_id, run_id },
  outcome,
}: {
  run: ExportRun
  outcome: (typeof outcomes)[number]
}) {
  const failures = useListQuery(
    (cursor) => api.listExportFailures({ export_id, run_id, outcome, cursor }),
    ({ failures }) => failures,
  )
  return (
    <>
      <Reasons failures={failures.value ?? []} />
      <PagedTable
        caption="Records that were not sent"
        prefix="failure-"
        query={failures}
        empty={<p>None.</p>}
        columns={[
          {
            name: 'record',
            label: 'Record',
            value: ({ record }: Failure) => record ?? 'never sent',
            show: ({ record }: Failure) => <span class="wraps">{record ?? 'never sent'}</span>,
          },
          {
            name: 'reason',
            label: 'Reason',
            value: ({ reason }: Failure) => reason,
            show: ({ reason }: Failure) => <span class="wraps">{reason}</span>,
          },
          {
            name: 'class',
            label: 'Action',
            value: (failure: Failure) => helps[failure.class ?? 'none'] ?? null,
            show: (failure: Failure) => <span class="wraps">{helps[failure.class ?? 'none']}</span>,
          },
        ]}
        keyOf={(failure) => JSON.stringify(failure)}
      />
    </>
  )
}

/** How many of the records have each reason, the most frequent first, with the remedy. */
function Reasons({ failures }: { failures: readonly Failure[] }) {
  const byReason = new Map<string, { count: number; failure: Failure }>()
  for (const failure of failures) {
    const count = (byReason.get(failure.reason)?.count ?? 0) + 1
    byReason.set(failure.reason, { count, failure })
  }
  if (byReason.size === 0) return null
  return (
    <ul class="reasons">
      {[...byReason]
        .sort(([, one], [, other]) => other.count - one.count)
        .map(([reason, { count, failure }]) => (
          <li key={reason}>
            <strong class="number">{count}</strong> × {reason}{' '}
            <span class="hint">{helps[failure.class ?? 'none']}</span>
          </li>
        ))}
    </ul>
  )
}

const helps: Record<string, string> = {
  retry: 'Retry the run.',
  needs_action: 'Fix the cause in the reason, then retry.',
  never: 'Correct or remove this record. A retry cannot succeed.',
  none: '',
}
