import type { Progress } from './load.ts'

const barWidth = 24
const redrawMs = 200
const plainLineMs = 5_000

interface ProgressBar {
  show(progress: Progress): void
  /** Removes the bar, so that other lines can be printed. */
  clear(): void
}

/** The output of a bar: a terminal, or a file or pipe, which gets an occasional line. */
export interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Shows the progress of a load since the first call of `show`. `totalBytes` is null if unknown. */
export function openProgressBar(
  screen: Screen,
  totalBytes: number | null,
  now = Date.now,
): ProgressBar {
  let first: { atMs: number; progress: Progress } | null = null
  let shownAtMs = screen.isTTY ? Number.NEGATIVE_INFINITY : now()
  return {
    show(progress) {
      first ??= { atMs: now(), progress }
      if (now() - shownAtMs < (screen.isTTY ? redrawMs : plainLineMs)) return
      shownAtMs = now()
      const line = formatProgress(progress, first.progress, totalBytes, shownAtMs - first.atMs)
      screen.write(
        screen.isTTY ? `\r\x1b[2K${line.slice(0, (screen.columns ?? 80) - 1)}` : `${line}\n`,
      )
    },
    clear() {
      if (screen.isTTY) screen.write('\r\x1b[2K')
    },
  }
}

/** A share from 0 to 1 like "████████░░░░ 52 %". */
export function formatShare(share: number): string {
  const filled = Math.round(share * barWidth)
  return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${Math.floor(share * 100)} %`
}

/** A line like "████████░░░░ 52 % · 512,000 rows · 31,200 rows/s · 0:42 left · 3 rejected". */
export function formatProgress(
  { rows, rejected, bytes }: Progress,
  before: Progress,
  totalBytes: number | null,
  elapsedMs: number,
): string {
  const share = totalBytes === null ? 0 : Math.min(1, bytes / Math.max(1, totalBytes))
  const rate = elapsedMs > 0 ? Math.round(((rows - before.rows) / elapsedMs) * 1_000) : null
  const leftMs =
    bytes > before.bytes ? (elapsedMs * (totalBytes! - bytes)) / (bytes - before.bytes) : null
  return [
    totalBytes !== null && formatShare(share),
    `${rows.toLocaleString('en')} rows`,
    rate !== null && `${rate.toLocaleString('en')} rows/s`,
    totalBytes !== null && leftMs !== null && `${formatDuration(leftMs)} left`,
    rejected > 0 && `${rejected.toLocaleString('en')} rejected`,
  ]
    .filter((part) => part !== false)
    .join(' · ')
}

/** Minutes and seconds, or hours, minutes and seconds. */
function formatDuration(ms: number): string {
  const seconds = Math.ceil(Math.max(0, ms) / 1_000)
  const [hours, ...rest] = [
    Math.floor(seconds / 3_600),
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ]
  const [first, ...others] = hours === 0 ? rest : [hours!, ...rest]
  return [String(first), ...others.map((part) => String(part).padStart(2, '0'))].join(':')
}
