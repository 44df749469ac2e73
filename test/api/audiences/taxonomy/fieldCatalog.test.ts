import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Field,
  fields,
  groupableFields,
  groups,
  publicField,
  selectableAt,
  tiers,
} from '../../../../schemas/fields.ts'
import { openEvents } from '../../events/harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  events = await openEvents()
})
afterAll(() => events.close())

const get = (path: string) => events.app.inject(`/api/v1/field-catalog${path}`)

const catalogField = (field: Field) => ({
  ...publicField(field),
  groupable: groupableFields.includes(field),
})

test('the catalog is every field', async () => {
  expect((await get('')).json()).toEqual({ fields: fields.map(catalogField) })
})

test.each(groups)('of the group %s it is that group’s', async (group) => {
  const { fields: shown } = (await get(`?group=${group}`)).json()
  expect(shown).toEqual(fields.filter((field) => field.group === group).map(catalogField))
  expect(shown.length).toBeGreaterThan(0)
})

test.each(tiers)('of the tier %s it is what its routes return', async (tier) => {
  expect((await get(`?tier=${tier}`)).json()).toEqual({
    fields: selectableAt(tier).map(catalogField),
  })
})

test('one field is found by its name, with the values it may hold', async () => {
  expect((await get('/job_seniority')).json()).toEqual({
    field: {
      name: 'job_seniority',
      data_type: 'Utf8',
      nullable: true,
      tier: 'resolution_full_profile',
      group: 'contact',
      description: 'Seniority of the position.',
      groupable: false,
      values: expect.arrayContaining(['owner', 'director']),
    },
  })
})

test('404 for a field that does not exist', async () => {
  const answer = await get('/organization_id')
  expect(answer.statusCode).toBe(404)
  expect(answer.json()).toMatchObject({ error: 'field not found' })
})

test.each([
  ['?group=secrets', 'group'],
  ['?tier=gold', 'tier'],
  ['?name=hem', 'name'],
])('400 names what is wrong in %s', async (query, parameter) => {
  const answer = await get(query)
  expect(answer.statusCode).toBe(400)
  expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter })
})
