import type { ExportRun } from '../../api.ts'
import { exactTime } from '../../components/time.ts'

/** The states of a run, in words. */
export const statusNames: Record<ExportRun['status'], string> = {
  pending: 'pending',
  running: 'running',
  parked: 'waiting',
  completed: 'completed',
  failed: 'failed',
}

/** Why a run stopped, or why it waits and when it continues; '' if it does neither. */
export function reasonOf({ status, error, resumes_at }: ExportRun): string {
  if (status !== 'parked') return error ?? ''
  const until = resumes_at ? `at ${exactTime(resumes_at)}` : 'soon'
  return `The destination accepts no records at the moment${error ? `: ${error}` : '.'} The run continues by itself ${until}.`
}
