import { expect, test } from 'vitest'
import {
  readFunnelStep,
  writeFunnelStep,
} from '../../../collector/dashboard/web/view/funnelView.ts'

const funnel = {
  steps: ['page_path:eq:/', 'page_path:eq:/pricing,country:eq:DE', 'page_path:eq:/thanks'],
  within: String(7 * 86_400_000),
}

test('the address behind each step of a funnel, from the first to the last, reads as that step', () => {
  for (const step of [1, 2, 3])
    for (const hasStopped of [false, true]) {
      const written = { ...funnel, step, hasStopped }
      const params = new URLSearchParams('period=days7')
      writeFunnelStep(params, written)
      expect(readFunnelStep(`?${params}`)).toEqual(written)
    }
})

test('an address with a step that its funnel does not have names none', () => {
  const steps = 'step=event_type:eq:click&step=event_type:eq:copy'
  for (const search of [
    '',
    '?at=1',
    '?step=event_type:eq:click&at=1',
    `?${steps}&at=0`,
    `?${steps}&at=3`,
  ])
    expect(readFunnelStep(search)).toBeNull()
})
