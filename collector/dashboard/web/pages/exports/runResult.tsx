import type { ExportRun } from '../../api.ts'
import { records } from '../../components/amounts.ts'
import { counted } from '../../format.ts'
import { reasonOf } from './runStatus.ts'

/** Shows the outcome of a run: "24 sent · 24 failed". The numbers appear once they are known. */
export function RunResult({ run }: { run: ExportRun }) {
  const { records_exported, records_failed = 0, records_duplicated = 0, records_charged } = run
  const reason = reasonOf(run)
  return (
    <section class="card run-result" aria-label="Result of the run">
      {records_exported === undefined ? (
        <p>Today’s free answers are used up. The numbers appear after midnight UTC.</p>
      ) : (
        <p class="figure">
          <span>{records(records_exported)} sent</span>
          <span aria-hidden="true"> · </span>
          <span class={records_failed > 0 ? 'worse' : ''}>{records(records_failed)} failed</span>
          {records_duplicated > 0 && (
            <>
              <span aria-hidden="true"> · </span>
              <span>{records(records_duplicated)} duplicates</span>
            </>
          )}
        </p>
      )}
      <p class="hint">{counted(records_charged, 'record')} charged.</p>
      {reason && <p class={run.status === 'failed' ? 'fault' : 'notice'}>{reason}</p>}
    </section>
  )
}
