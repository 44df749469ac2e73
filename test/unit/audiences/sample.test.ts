import { describe, expect, test } from 'vitest'
import { parseDefinition } from '../../../collector/audiences/definition/parse.ts'
import { freeRowsSalt, maskRow } from '../../../collector/audiences/sample/mask.ts'
import { namedPeople } from '../../../collector/audiences/sample/sample.ts'
import { companyFields, hem, profileFields } from '../../../schemas/fields.ts'

describe('a free row', () => {
  const values = {
    Utf8: 'Ada 7',
    Int64: 1987,
    Float64: 12.345,
    Boolean: true,
    Timestamp: '2026-03-04T05:06:07.000Z',
  }
  const row = Object.fromEntries(
    [hem, ...profileFields].map(({ name, dataType }) => [name, values[dataType]]),
  )

  test('has every field; contact data, names, ids and exact household values are masked', () => {
    const masked = maskRow(row)
    expect(Object.keys(masked)).toEqual(Object.keys(row))
    for (const { name } of profileFields) {
      if (
        !/^(hem|.*_id|maid|uid2|.*email|additional_emails|.*phone|.*_url|(first|middle|last|full)_name|.*street.*|.*postal.*|household_size|children_count)$/.test(
          name,
        )
      )
        continue
      expect({ name, value: masked[name] }).toEqual({ name, value: '***' })
    }
    expect(masked).toMatchObject({
      hem: '***',
      birth_year: 1980,
      home_value_usd: 1000,
      home_latitude: 12,
    })
  })

  test('of a company shows name, domain, country, industry and ranges', () => {
    const shown = companyFields
      .map(({ name }) => name)
      .filter((name) => maskRow(row)[name] === 'Ada 7')
    expect(shown).toEqual(
      expect.arrayContaining([
        'company_name',
        'company_domain',
        'company_country',
        'company_industry',
        'company_employee_range',
        'company_revenue_range',
      ]),
    )
    expect(shown.join()).not.toMatch(/phone|street|url|postal|legal/)
  })

  test('masks fields that no list names, keeps null, and masks addresses within texts', () => {
    expect(maskRow({ new_field: 'x', email: null, job_title: 'Potter ada@b.example 7' })).toEqual({
      new_field: '***',
      email: null,
      job_title: 'Potter *** 7',
    })
  })
})

test('the order of rows depends on the UTC day and the question alone', () => {
  const noon = Date.UTC(2026, 0, 1, 12)
  expect(freeRowsSalt(noon, ['a'])).toBe(freeRowsSalt(noon + 3_600_000, ['a']))
  expect(freeRowsSalt(noon, ['a'])).not.toBe(freeRowsSalt(noon, ['b']))
  expect(freeRowsSalt(noon, ['a'])).not.toBe(freeRowsSalt(noon + 86_400_000, ['a']))
})

test('a definition names the people of its lists: the smallest of `all`, the sum of `any`', () => {
  const list = (list_id: string) => ({ list: { list_id } })
  const [ten, twenty] = [
    '00000000-0000-4000-8000-000000000010',
    '00000000-0000-4000-8000-000000000020',
  ]
  const ceo = { profile: { field: 'job_title', op: 'eq', value: 'CEO' } }
  const named = (include: object) =>
    namedPeople(parseDefinition({ entity: 'people', include }), (leaf) =>
      leaf.kind === 'list' ? Number(leaf.listId.slice(-2)) : Number.POSITIVE_INFINITY,
    )
  expect(named(list(ten))).toBe(10)
  expect(named({ all: [list(twenty), list(ten), ceo] })).toBe(10)
  expect(named({ any: [list(ten), { all: [list(twenty), ceo] }] })).toBe(30)
  expect(named({ any: [list(ten), ceo] })).toBe(Number.POSITIVE_INFINITY)
  expect(named({ all: [ceo, { not: list(ten) }] })).toBe(Number.POSITIVE_INFINITY)
})
