import { describe, expect, test } from 'vitest'
import { meterOf, meterOfRows } from '../../../../collector/events/legacy/meter.ts'
import { type Field, type Tier, tiers } from '../../../../schemas/fields.ts'

/** A field of each tier, called like it. */
const fieldOf = Object.fromEntries(
  tiers.map((tier) => [tier, { name: tier, tier } as Field]),
) as Record<Tier, Field>
const all = Object.values(fieldOf)

test('the highest tier among the fields decides, in whatever order they are listed', () => {
  expect(meterOf([fieldOf.web_event])).toBe('events')
  expect(meterOf([fieldOf.web_event, fieldOf.resolution_hem])).toBe('resolution_hem')
  expect(meterOf([fieldOf.resolution_hem_pte, fieldOf.resolution_hem])).toBe('resolution_hem_pte')
  expect(meterOf(all.toReversed())).toBe('resolution_full_profile')
})

test('without fields it is events', () => {
  expect(meterOf([])).toBe('events')
})

describe('of rows the fields count that have a value in any of them', () => {
  const rowOf = (row: object) => JSON.stringify({ web_event: '"hem":null', hem: 'a', ...row })
  const [nobody, known, pte, full] = [
    rowOf({ hem: null, resolution_hem: null, resolution_hem_pte: null }),
    rowOf({ resolution_hem: 'a', resolution_hem_pte: null, resolution_full_profile: null }),
    rowOf({ resolution_hem: 'a', resolution_hem_pte: false, resolution_full_profile: null }),
    rowOf({ resolution_hem: 'a', resolution_hem_pte: null, resolution_full_profile: 0 }),
  ]
  test.each([
    [[], 'events'],
    [[nobody, nobody], 'events'],
    [[nobody, known, nobody], 'resolution_hem'],
    [[known, pte, known], 'resolution_hem_pte'],
    [[nobody, known, pte, full, nobody], 'resolution_full_profile'],
    [[full, known], 'resolution_full_profile'],
  ])('%#', (rows, meter) => expect(meterOfRows(rows, { fields: all, named: [] })).toBe(meter))

  test('together with those that are named', () => {
    const named = [fieldOf.resolution_hem_pte]
    expect(meterOfRows([nobody, known], { fields: all, named })).toBe('resolution_hem_pte')
    expect(meterOfRows([full], { fields: all, named })).toBe('resolution_full_profile')
  })
})
