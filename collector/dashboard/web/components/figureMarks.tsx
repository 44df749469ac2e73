import { changeOf } from '../format.ts'

/** A bar behind a row's name: the row's share of the largest row, from 0 to 1. */
export const ShareBar = ({ of }: { of: number }) => (
  <span
    class="share"
    aria-hidden="true"
    ref={(bar) => bar?.style.setProperty('width', `${100 * of}%`)}
  />
)

/** The change between two values, colored as better or worse; nothing without a comparison. */
export function Change({
  now,
  before,
  isBad = false,
}: {
  now: number | null
  before: number | null
  /** Whether a higher value is worse. */
  isBad?: boolean | undefined
}) {
  const change = changeOf(now, before)
  if (change === null) return null
  const isBetter = now! >= before! !== isBad
  // A change that rounds to zero is neither better nor worse.
  return <span class={/[1-9]/.test(change) ? (isBetter ? 'better' : 'worse') : ''}>{change}</span>
}
