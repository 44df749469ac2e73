import { currentSearch } from '../router.tsx'

const hourMs = 3_600_000
/** How long all steps may take, in milliseconds, and how that reads. */
export const withins: Record<string, string> = {
  [hourMs]: 'within an hour',
  [24 * hourMs]: 'within a day',
  [7 * 24 * hourMs]: 'within 7 days',
  [30 * 24 * hourMs]: 'within 30 days',
}
const withinDefault = String(24 * hourMs)

/** The funnel of an address. */
interface FunnelView {
  /** Each field:op:value. */
  steps: readonly string[]
  /** One of `withins`. */
  within: string
}

/** Those who took so many steps of a funnel, or these and no more. */
export interface FunnelStep extends FunnelView {
  step: number
  hasStopped: boolean
}

/** Reads the funnel of the page's address. To be called while drawing. */
export function readFunnel(): FunnelView {
  const params = new URLSearchParams(currentSearch.value)
  const within = params.get('within') ?? ''
  return { steps: params.getAll('step'), within: within in withins ? within : withinDefault }
}

/** Reads the step that the page's address is about; null where it is about none. To be called while drawing. */
export function readFunnelStep(): FunnelStep | null {
  const params = new URLSearchParams(currentSearch.value)
  const funnel = readFunnel()
  const step = Number(params.get('at'))
  if (funnel.steps.length < 2 || !funnel.steps[step - 1]) return null
  return { ...funnel, step, hasStopped: params.get('outcome') === 'dropped' }
}

/** Writes a step into an address's parameters. */
export function writeFunnelStep(
  params: URLSearchParams,
  { steps, within, step, hasStopped }: FunnelStep,
): void {
  for (const filter of steps) params.append('step', filter)
  params.set('within', within)
  params.set('at', String(step))
  if (hasStopped) params.set('outcome', 'dropped')
}
