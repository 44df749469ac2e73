import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timeZone } from '../../../collector/platform/timeZone.ts'

/** Local times as Intl formats them. */
const shown = (name: string, ms: number) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: name, dateStyle: 'short', timeStyle: 'medium' })
    .format(ms)
    .replace(' ', 'T')
const asLocal = (text: string) => Date.parse(`${text}Z`)
const at = (name: string, local: string) =>
  new Date(timeZone(name)!.instantOf(asLocal(local))).toISOString()

const names = [
  'UTC',
  'America/Los_Angeles',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Asia/Beirut',
  'America/Havana',
  'Pacific/Apia',
]

test('the offset is that of the clocks, at any time', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2035, 0) }),
      (name, ms) => {
        const second = Math.floor(ms / 1_000) * 1_000
        const local = second + timeZone(name)!.offsetAt(second)
        expect(new Date(local).toISOString().slice(0, 19)).toBe(shown(name, second))
      },
    ),
  )
})

test('an instant shows the local time it is for, and no earlier one does', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) }),
      (name, ms) => {
        const zone = timeZone(name)!
        const second = Math.floor(ms / 1_000) * 1_000
        const first = zone.instantOf(second + zone.offsetAt(second))
        expect(shown(name, first)).toBe(shown(name, second))
        expect(first).toBeLessThanOrEqual(second)
      },
    ),
  )
})

test.each([
  ['America/Los_Angeles', '2026-03-08T00:00:00', '2026-03-08T08:00:00.000Z'],
  ['America/Los_Angeles', '2026-03-09T00:00:00', '2026-03-09T07:00:00.000Z'],
  ['America/Los_Angeles', '2026-11-01T01:30:00', '2026-11-01T08:30:00.000Z'],
  ['America/Los_Angeles', '2026-11-02T00:00:00', '2026-11-02T08:00:00.000Z'],
  ['Asia/Kathmandu', '2026-05-01T00:00:00', '2026-04-30T18:15:00.000Z'],
  // Clocks skip midnight: the day begins at 01:00.
  ['Asia/Beirut', '2026-03-29T00:00:00', '2026-03-28T22:00:00.000Z'],
  // Clocks show midnight twice: the day begins at the first.
  ['America/Havana', '2026-11-01T00:00:00', '2026-11-01T04:00:00.000Z'],
])('in %s, %s is %s', (name, local, instant) => {
  expect(at(name, local)).toBe(instant)
})

test.each(['', 'Nowhere/At_All', '+05:45', 'europe/berlin', 'Europe/Berlin\n', 'A'.repeat(100)])(
  '%j is no time zone',
  (name) => {
    expect(timeZone(name)).toBeUndefined()
  },
)

test('spellings of names do not fill the memory: a zone is forgotten after a thousand others', () => {
  const first = timeZone('America/Argentina/Buenos_Aires')
  expect(timeZone('America/Argentina/Buenos_Aires')).toBe(first)
  const letters = 'merica/argentina'
  const spelled = (spelling: number) =>
    [...letters]
      .map((letter, at) => ((spelling >> at) & 1 ? letter.toUpperCase() : letter))
      .join('')
  const names = new Set(Array.from({ length: 3_000 }, (_, spelling) => spelled(spelling)))
  expect(names.size).toBeGreaterThan(1_000)
  for (const name of names) expect(timeZone(`A${name}/Buenos_Aires`)).toBeDefined()
  expect(timeZone('America/Argentina/Buenos_Aires')).not.toBe(first)
})
