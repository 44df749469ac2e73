import { afterAll, beforeAll, expect, test } from 'vitest'
import { fieldNamed, fields } from '../../../../schemas/fields.ts'
import { type Term, taxonomies } from '../../../../schemas/taxonomies.ts'
import { openEvents } from '../../events/harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  events = await openEvents()
})
afterAll(() => events.close())

const get = (path = '') => events.app.inject(`/api/v1/taxonomy${path}`)
const valuesOf = async (name: string) =>
  ((await get(`/${name}`)).json() as { values: Term[] }).values

test('every list is named, with its fields and the number of its values', async () => {
  const { taxonomies: shown } = (await get()).json()
  expect(shown.slice(0, -1)).toEqual(
    taxonomies.map(({ name, description, fields, terms }) => ({
      name,
      description,
      fields,
      count: terms.length,
    })),
  )
  expect(new Set(shown.map(({ name }: { name: string }) => name)).size).toBe(shown.length)
})

test('topics are several hundred in a tree', async () => {
  const { taxonomies: shown } = (await get()).json()
  const topics = await valuesOf('topics')
  expect(shown.at(-1)).toMatchObject({ name: 'topics', fields: [], count: topics.length })
  expect(topics.length).toBeGreaterThan(400)
  const parentOf = new Map(topics.map(({ value, parent }) => [value, parent]))
  expect(parentOf.size).toBe(topics.length)
  for (const { value, label } of topics) {
    expect(value).toMatch(/^[a-z0-9_]+$/)
    expect(label).toMatch(/^[A-Z0-9]/)
    let depth = 0
    for (let at = parentOf.get(value); at !== undefined; at = parentOf.get(at)) {
      expect([value, at, parentOf.has(at)]).toEqual([value, at, true])
      expect(++depth).toBeLessThan(5)
    }
  }
})

test.each(taxonomies.map(({ name }) => name))(
  '%s has its values, each once, with labels',
  async (name) => {
    const values = await valuesOf(name)
    expect(values).toEqual(taxonomies.find((one) => one.name === name)!.terms)
    expect(values.length).toBeGreaterThan(0)
    expect(new Set(values.map(({ value }) => value)).size).toBe(values.length)
    for (const { label } of values) expect(label).toMatch(/^[A-Z0-9]/)
  },
)

test('every field that chooses from a list is told of, and its list is whole', () => {
  for (const { name, values } of fields.filter(({ values }) => values)) {
    const lists = taxonomies.filter((taxonomy) => taxonomy.fields.includes(name))
    expect({ name, lists: lists.map(({ terms }) => terms.map(({ value }) => value)) }).toEqual({
      name,
      lists: [values],
    })
  }
  for (const taxonomy of taxonomies) {
    expect(taxonomy.fields.filter((name) => !fieldNamed(name))).toEqual([])
    expect(taxonomy.fields.length).toBeGreaterThan(0)
  }
})

test('parts of an industry name it', async () => {
  const industries = (await valuesOf('industries')).map(({ value }) => value)
  for (const { parent } of await valuesOf('sub_industries')) expect(industries).toContain(parent)
})

test('labels are for people', async () => {
  expect((await valuesOf('seniorities')).slice(0, 3)).toEqual([
    { value: 'owner', label: 'Owner' },
    { value: 'c_suite', label: 'C-suite' },
    { value: 'vice_president', label: 'Vice president' },
  ])
})

test('a list that does not exist answers 404, and a parameter 400', async () => {
  const answer = await get('/nothing')
  expect(answer.statusCode).toBe(404)
  expect(answer.json()).toMatchObject({ error: 'taxonomy not found' })
  expect((await get('?search=x')).json()).toMatchObject({
    error: 'invalid_parameter',
    parameter: 'search',
  })
})
