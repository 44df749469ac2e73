import { expect, test } from 'vitest'
import { shapes } from '../../../collector/dashboard/web/charts/drawWorld.ts'

test('every country of the map has its code, once, and an outline; territories without one are told', () => {
  expect(shapes.length).toBeGreaterThan(170)
  expect(shapes.filter(({ code }) => code === null).map(({ id }) => id)).toEqual([
    'N. Cyprus',
    'Somaliland',
  ])
  const codes = shapes.flatMap(({ code }) => code ?? [])
  expect(new Set(codes).size).toBe(codes.length)
  const names = new Intl.DisplayNames('en', { type: 'region' })
  for (const code of codes) expect(names.of(code)).not.toBe(code)
  for (const { d } of shapes) expect(d).toMatch(/^M[\d.]/)
  expect(codes).toEqual(expect.arrayContaining(['DE', 'US', 'BR', 'JP', 'ZA', 'AU', 'XK']))
})
