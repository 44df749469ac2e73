import type { ExportRun } from '../../api.ts'
import { records } from '../../components/amounts.ts'

/** Shows the outcome of a run: "24 sent · 24 failed". The numbers appear once they are known. */
export function RunResult({ run }: { run: ExportRun }) {
  const { records_exported, records_failed = 0, records_duplicated = 0, status, error } = run
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
      {status === 'failed' && error && <p class="fault">{error}</p>}
    </section>
  )
}
