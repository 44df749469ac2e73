import { percent } from '../format.ts'

/** States that figures are estimated from a part of the visitors; nothing if they are exact. */
export const Estimate = ({ fraction }: { fraction: number }) =>
  fraction < 1 ? <p class="hint">Estimated from {percent(fraction)} of the visitors.</p> : null
