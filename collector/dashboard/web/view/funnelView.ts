const hourMs = 3_600_000
/** Time limits of all steps in milliseconds, with their labels. */
export const withins: Record<string, string> = {
  [hourMs]: 'within an hour',
  [24 * hourMs]: 'within a day',
  [7 * 24 * hourMs]: 'within 7 days',
  [30 * 24 * hourMs]: 'within 30 days',
}
const withinDefault = String(24 * hourMs)

/** The funnel of an address. */
interface FunnelView {
  /** Steps, each as field:op:value. */
  steps: readonly string[]
  /** One of the keys of `withins`. */
  within: string
}

/** Visitors who completed a step of a funnel, or that step and no further one. */
export interface FunnelStep extends FunnelView {
  step: number
  hasStopped: boolean
}

/** Reads the funnel of an address's query. */
export function readFunnel(search: string): FunnelView {
  const params = new URLSearchParams(search)
  const within = params.get('within') ?? ''
  return { steps: params.getAll('step'), within: within in withins ? within : withinDefault }
}

/** Reads the funnel step of an address's query; null without one. */
export function readFunnelStep(search: string): FunnelStep | null {
  const params = new URLSearchParams(search)
  const funnel = readFunnel(search)
  const step = Number(params.get('at'))
  if (funnel.steps.length < 2 || !funnel.steps[step - 1]) return null
  return { ...funnel, step, hasStopped: params.get('outcome') === 'dropped' }
}

/** Writes a step to an address's parameters. */
export function writeFunnelStep(
  params: URLSearchParams,
  { steps, within, step, hasStopped }: FunnelStep,
): void {
  for (const filter of steps) params.append('step', filter)
  params.set('within', within)
  params.set('at', String(step))
  if (hasStopped) params.set('outcome', 'dropped')
}
