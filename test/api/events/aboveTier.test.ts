import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formats } from '../../../collector/api/http/negotiateFormat.ts'
import { operators } from '../../../collector/events/query/filter/filter.ts'
import { visitorTiers } from '../../../collector/events/visitors/visitorsRequest.ts'
import { type Field, fields, isReadableAt, profileFields, tiers } from '../../../schemas/fields.ts'
import { randomRuns } from '../../harness/thorough.ts'
import { eventOf, linkOf, openEvents, projectId, type Row } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const cookie = randomUUID()
const hem = 'ab'.repeat(32)

/** Somebody whose every value tells which field it is from. */
const markOf = ({ name, dataType }: Field) => (dataType === 'Utf8' ? `mark of ${name}.` : null)
const marked: Row = Object.fromEntries(profileFields.map((field) => [field.name, markOf(field)]))

beforeAll(async () => {
  events = await openEvents()
  await events.insert([eventOf(now, 1_000, { cookie_id: cookie }), eventOf(now, 2_000)])
  await events.know({ links: [linkOf(cookie, hem)], profiles: [{ ...marked, hem }] })
})
afterAll(() => events.close())

const field = fc.constantFrom(...fields)
const list = fc.uniqueArray(field, { minLength: 1, maxLength: 4, selector: ({ name }) => name })
const filter = fc.record({
  field,
  op: fc.constantFrom(...operators),
  value: fc.constantFrom('', 'x', '%', 'true', '5', '2026-01-01', hem),
})
const request = fc.record({
  tier: fc.constantFrom(...tiers),
  accept: fc.constantFrom(...Object.values(formats)),
  select: fc.option(list, { nil: undefined }),
  distinct: fc.option(list, { nil: undefined }),
  filters: fc.array(filter, { maxLength: 3 }),
})
const visitorsRequest = fc.record({
  tier: fc.constantFrom(...visitorTiers),
  accept: fc.constantFrom(...Object.values(formats)),
  select: fc.option(list, { nil: undefined }),
  distinct: fc.constant(undefined),
  filters: fc.array(filter, { maxLength: 3 }),
})

const namesOf = (list: readonly Field[]) => list.map(({ name }) => name).join(',')

/** Asks `path`, and sees that the answer holds nothing above the tier. */
async function expectNothingAbove(
  path: string,
  { tier, accept, select, distinct, filters }: Asked,
  more: Record<string, string> = {},
) {
  const query = {
    ...more,
    ...(select && { select: namesOf(select) }),
    ...(distinct && { distinct: namesOf(distinct) }),
    ...(filters.length > 0 && {
      filter: filters.map(({ field, op, value }) => `${field.name}:${op}:${value}`).join(','),
    }),
  }
  const answer = await events.get(path, query, { accept })
  const asked = [...(select ?? []), ...(distinct ?? []), ...filters.map(({ field }) => field)]
  if (asked.some((one) => !isReadableAt(one, tier))) {
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({
      error: 'invalid_parameter',
      code: 'invalid_parameter',
      parameter: expect.stringMatching(/^(select|distinct|filter)$/),
      message: expect.any(String),
      request_id: expect.any(String),
    })
    return
  }
  // A value that does not suit its field is refused, too.
  expect([200, 400]).toContain(answer.statusCode)
  if (answer.statusCode === 400) return
  for (const above of fields.filter((one) => !isReadableAt(one, tier))) {
    expect(answer.body).not.toContain(`"${above.name}"`)
    expect(answer.body).not.toContain(markOf(above) ?? `"${above.name}"`)
  }
  if (tier === 'web_event') expect(answer.body).not.toContain(hem)
}
type Asked = typeof request extends fc.Arbitrary<infer Value> ? Value : never

test('no field above the tier is ever returned, whatever select, filter, distinct and format ask', async () => {
  await fc.assert(
    fc.asyncProperty(request, (asked) => expectNothingAbove(`events/${asked.tier}`, asked)),
    randomRuns(12, 300),
  )
}, 600_000)

test('nor of visitors', async () => {
  const window = { start_ms: String(now - 60_000), end_ms: String(now), limit: '10' }
  const scope = { project_id: projectId, ...window }
  await fc.assert(
    fc.asyncProperty(visitorsRequest, (asked) =>
      expectNothingAbove(`events/${asked.tier}/visitors`, asked, scope),
    ),
    randomRuns(6, 100),
  )
})

test('where nothing asks for less, the marks are there: the test above would see them', async () => {
  const { body } = await events.get('events/resolution_full_profile')
  for (const { name, dataType } of profileFields) {
    if (dataType === 'Utf8') expect(body).toContain(`"${name}":"mark of ${name}."`)
  }
})
