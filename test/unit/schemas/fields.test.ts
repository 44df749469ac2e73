import { expect, test } from 'vitest'
import { fieldNamed, fields, fieldsAt, isProfileField, tiers } from '../../../schemas/fields.ts'

const namesAt = (tier: (typeof tiers)[number]) => fieldsAt(tier).map(({ name }) => name)

test('each field is there once, with a description', () => {
  const names = fields.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(fields.filter(({ description }) => !/[.…]$/.test(description))).toEqual([])
  expect(names.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([])
})

test('each tier has the fields of the one before, and more', () => {
  for (const [rank, tier] of tiers.entries()) {
    const before = rank > 0 ? namesAt(tiers[rank - 1]!) : []
    expect(namesAt(tier).slice(0, before.length)).toEqual(before)
    expect(namesAt(tier).length).toBeGreaterThan(before.length)
  }
})

test('the tiers add what the interface says they add', () => {
  const added = (rank: number) =>
    fieldsAt(tiers[rank]!)
      .filter(({ tier }) => tier === tiers[rank])
      .map(({ name }) => name)
  expect(added(1)).toEqual(['hem'])
  expect(added(2)).toEqual([
    'pte_person_id',
    'pte_household_id',
    'maid',
    'uid2',
    'id5_id',
    'ramp_id',
  ])
  for (const name of 'first_name last_name job_title company_name company_domain personal_email linkedin_url email'.split(
    ' ',
  )) {
    expect(fieldNamed(name)?.tier).toBe('resolution_full_profile')
  }
})

test('the full profile adds more than a hundred fields: contact, company and demographic', () => {
  const profile = fields.filter(({ tier }) => tier === 'resolution_full_profile')
  expect(profile.length).toBeGreaterThan(100)
  for (const group of ['contact', 'company', 'demographic']) {
    expect(profile.filter((field) => field.group === group).length).toBeGreaterThan(20)
  }
  expect(profile.every((field) => field.nullable && isProfileField(field))).toBe(true)
})

test('column, data type and nullability agree', () => {
  const expected: Record<string, RegExp> = {
    Utf8: /String|UUID/,
    Int64: /Int/,
    Float64: /Float64|Decimal/,
    Boolean: /Bool/,
    Timestamp: /DateTime64\(3, 'UTC'\)/,
  }
  for (const { name, columnType, dataType, nullable, storedNull } of fields) {
    expect(columnType, name).toMatch(expected[dataType]!)
    // A column of the primary key is not nullable: one of its values stands for null.
    expect(columnType.includes('Nullable') || storedNull !== undefined, name).toBe(nullable)
  }
})
