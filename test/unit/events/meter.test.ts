import { expect, test } from 'vitest'
import { meterOf, returnedFields } from '../../../collector/events/legacy/meter.ts'
import { type Field, type Tier, tiers } from '../../../schemas/fields.ts'

/** A field of each tier, called like it. */
const fieldOf = Object.fromEntries(tiers.map((tier) => [tier, { name: tier, tier } as Field])) as Record<
  Tier,
  Field
>
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

test('of rows the fields count that have a value in any of them', () => {
  const rows = [
    { web_event: 1, resolution_hem: null, resolution_hem_pte: null, resolution_full_profile: null },
    { web_event: 1, resolution_hem: 'a', resolution_hem_pte: null, resolution_full_profile: undefined },
  ]
  expect(returnedFields(all, rows)).toEqual([fieldOf.web_event, fieldOf.resolution_hem])
  expect(meterOf(returnedFields(all, rows))).toBe('resolution_hem')
  expect(meterOf(returnedFields(all, rows.slice(0, 1)))).toBe('events')
  expect(meterOf(returnedFields(all, []))).toBe('events')
})
