import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../../collector/api/http/errors.ts'
import { eventCountsSelect } from '../../../../collector/audiences/builder/eventCountsQuery.ts'
import { leafIdOf, leafIdsOf } from '../../../../collector/audiences/builder/leafDays.ts'
import { membersSelect } from '../../../../collector/audiences/builder/membersQuery.ts'
import type { EventLeaf } from '../../../../collector/audiences/definition/definition.ts'
import { definitionSchema } from '../../../../collector/audiences/definition/jsonSchema.ts'
import { parseDefinition } from '../../../../collector/audiences/definition/parse.ts'
import { templates } from '../../../../collector/audiences/templates.ts'
import { bindings } from '../../../../collector/events/query/bind.ts'
import { packageRoot } from '../../../../collector/platform/paths.ts'
import { profileFields } from '../../../../schemas/fields.ts'

const visit = { event: { within_days: 7 } }
const ceo = { profile: { field: 'job_title', op: 'eq', value: 'CEO' } }
const people = (include: unknown, more: object = {}) => ({ entity: 'people', include, ...more })
const profile = (field: unknown, op: unknown, value: unknown) =>
  people({ profile: { field, op, value } })
const event = (leaf: object) => people({ event: { within_days: 7, ...leaf } })
const nested = (depth: number): unknown => (depth === 0 ? visit : { all: [nested(depth - 1)] })

describe('what is wrong is answered with the place where it stands', () => {
  test.each<[string, unknown, string, RegExp]>([
    ['no object', [], '', /must be an object/],
    ['no entity', { include: visit }, '/entity', /is required/],
    ['another entity', { entity: 'cookies', include: visit }, '/entity', /people or companies/],
    ['no include', { entity: 'people' }, '/include', /is required/],
    ['an unknown member', people(visit, { exclde: visit }), '/exclde', /is not allowed/],
    ['a member with a slash', people(visit, { 'a/b~': 1 }), '/a~1b~0', /is not allowed/],
    ['a limit of zero', people(visit, { limit: 0 }), '/limit', /from 1/],
    ['a node that is a list', people([visit]), '/include', /must be an object/],
    ['an empty node', people({}), '/include', /exactly one/],
    ['two kinds in a node', people({ ...visit, ...ceo }), '/include', /exactly one/],
    ['an unknown kind', people({ some: [visit] }), '/include', /exactly one/],
    ['an empty list', people({ all: [] }), '/include/all', /at least one/],
    ['a list that is none', people({ any: visit }), '/include/any', /array/],
    [
      'a wrong node in a list',
      people({ any: [visit, { all: [visit, 7] }] }),
      '/include/any/1/all/1',
      /object/,
    ],
    ['nine levels', people(nested(8)), `/include${'/all/0'.repeat(8)}`, /at most 8 levels deep/],
    ['65 leaves', people({ any: Array(65).fill(visit) }), '/include/any', /at most 64/],
    [
      '65 leaves apart',
      people({ any: Array(60).fill(visit) }, { exclude: { any: Array(5).fill(visit) } }),
      '/exclude/any/4',
      /at most 64/,
    ],
    ['everybody but', people({ not: visit }), '/include', /everybody/],
    [
      'everybody but, deeper',
      people({ any: [visit, { all: [{ not: ceo }] }] }),
      '/include',
      /everybody/,
    ],
    [
      'no field',
      people({ profile: { op: 'eq', value: 1 } }),
      '/include/profile/field',
      /is required/,
    ],
    [
      'an unknown field',
      profile('shoe_size', 'eq', 44),
      '/include/profile/field',
      /no profile field "shoe_size"/,
    ],
    [
      'a field of events',
      profile('page_path', 'eq', '/'),
      '/include/profile/field',
      /no profile field/,
    ],
    [
      'a field of Object',
      profile('__proto__', 'eq', '/'),
      '/include/profile/field',
      /no profile field/,
    ],
    [
      'somebody by their address',
      profile('email', 'eq', 'ann@example.com'),
      '/include/profile/op',
      /must be is_set/,
    ],
    [
      'somebody by their browser',
      event({ filter: 'cookie_id:eq:8c0b7f5e-3c0e-4d2b-9a55-4f1f0a4d9f11' }),
      '/include/event/filter',
      /identifies single people/,
    ],
    ['an unknown op', profile('age', 'near', 4), '/include/profile/op', /must be eq or/],
    ['like on a number', profile('age', 'like', '4%'), '/include/profile/op', /must be eq or/],
    [
      'an order of truth values',
      profile('is_investor', 'gt', true),
      '/include/profile/op',
      /must be eq or/,
    ],
    [
      'no value',
      people({ profile: { field: 'age', op: 'eq' } }),
      '/include/profile/value',
      /is required/,
    ],
    [
      'a text for a number',
      profile('age', 'eq', '44'),
      '/include/profile/value',
      /must be a number/,
    ],
    ['half a year', profile('age', 'eq', 4.5), '/include/profile/value', /whole number/],
    [
      'a number for a text',
      profile('job_title', 'eq', 44),
      '/include/profile/value',
      /must be a string/,
    ],
    [
      'a word that the field never holds',
      profile('job_seniority', 'eq', 'King'),
      '/include/profile/value',
      /one of/,
    ],
    [
      'a time that is none',
      profile('email_verified_at', 'gt', 'yesterday'),
      '/include/profile/value',
      /ISO 8601/,
    ],
    ['in without a list', profile('age', 'in', 44), '/include/profile/value', /array of 1 to 100/],
    [
      'a wrong one in a list',
      profile('age', 'in', [44, '45']),
      '/include/profile/value/1',
      /must be a number/,
    ],
    ['between one', profile('age', 'between', [44]), '/include/profile/value', /array of 2/],
    [
      'between a text',
      profile('age', 'between', [1, 'a']),
      '/include/profile/value/1',
      /must be a number/,
    ],
    ['is_set of a text', profile('age', 'is_set', 'yes'), '/include/profile/value', /boolean/],
    ['no days', people({ event: {} }), '/include/event/within_days', /is required/],
    ['too many days', event({ within_days: 366 }), '/include/event/within_days', /from 1 to 365/],
    ['at least none', event({ at_least: 0 }), '/include/event/at_least', /from 1/],
    [
      'an unknown type of event',
      event({ event_type: 'wink' }),
      '/include/event/event_type',
      /one of page_view/,
    ],
    [
      'a filter that is none',
      event({ filter: 'page_path' }),
      '/include/event/filter',
      /field:op:value/,
    ],
    [
      'a filter of an unknown field',
      event({ filter: 'shoe:eq:44' }),
      '/include/event/filter',
      /no field shoe/,
    ],
    [
      'more comparisons than one statement takes',
      people({
        any: Array(5).fill({
          event: { within_days: 1, filter: Array(90).fill('is_bot:eq:false').join() },
        }),
      }),
      '/include/any/4/event',
      /at most 400 comparisons/,
    ],
    [
      'an op that the field does not take',
      event({ filter: 'is_bot:gt:true' }),
      '/include/event/filter',
      /no order/,
    ],
    ['a pixel that is no uuid', event({ pixel_id: 'mine' }), '/include/event/pixel_id', /UUID/],
    [
      'an audience that is no uuid',
      people({ audience: { audience_id: 'mine' } }),
      '/include/audience/audience_id',
      /UUID/,
    ],
    [
      'intent without topics',
      people({ any: [visit, { intent: { topics: [] } }] }),
      '/include/any/1/intent/topics',
      /1 to 25/,
    ],
    [
      'a topic twice',
      people({ any: [visit, { intent: { topics: ['a', 'a'] } }] }),
      '/include/any/1/intent/topics/1',
      /twice/,
    ],
    [
      'a topic that is no text',
      people({ any: [visit, { intent: { topics: [7] } }] }),
      '/include/any/1/intent/topics/0',
      /must be a string/,
    ],
    [
      'a score above 100',
      people({ any: [visit, { intent: { topics: ['a'], min_score: 101 } }] }),
      '/include/any/1/intent/min_score',
      /100/,
    ],
    [
      'a match that is none',
      people({ any: [visit, { intent: { topics: ['a'], match: 'some' } }] }),
      '/include/any/1/intent/match',
      /any or all/,
    ],
    ['a list of no id', people({ list: { list_id: 'a' } }), '/include/list/list_id', /UUID/],
  ])('%s', (_, definition, pointer, message) => {
    const error = faultOf(definition)
    expect(error).toMatchObject({ status: 400, code: 'invalid_parameter' })
    expect(error!.extra.body!.pointer).toBe(`/definition${pointer}`)
    expect(error!.message).toMatch(message)
  })
})

function faultOf(definition: unknown): ApiError | undefined {
  try {
    parseDefinition(definition)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  return undefined
}

test('eight levels and 64 leaves are taken', () => {
  expect(parseDefinition(people(nested(7))).leaves).toHaveLength(1)
  expect(parseDefinition(people({ any: Array(64).fill(ceo) })).leaves).toHaveLength(64)
})

test('leaves that count the same share their counts, whatever the order of their members, the number and the days', () => {
  const idOf = (leaf: object, projectId = 'a') =>
    leafIdOf(projectId, parseDefinition(people({ event: leaf })).leaves[0] as EventLeaf)
  const id = idOf({ event_type: 'click', filter: 'is_bot:eq:false', within_days: 7 })
  expect(
    idOf({ within_days: 30, at_least: 3, filter: 'is_bot:eq:false', event_type: 'click' }),
  ).toBe(id)
  expect(idOf({ event_type: 'click', within_days: 7 })).not.toBe(id)
  expect(idOf({ event_type: 'click', filter: 'is_bot:eq:false', within_days: 7 }, 'b')).not.toBe(id)
})

test('the JSON Schema names every field with operators that the parser takes', () => {
  const leaves = definitionSchema.$defs.profile.oneOf as unknown as {
    properties: { field: { const: string }; op: { enum: string[] } }
  }[]
  expect(new Set(leaves.map(({ properties }) => properties.field.const))).toEqual(
    new Set(profileFields.map(({ name }) => name)),
  )
  for (const { properties } of leaves) {
    for (const op of properties.op.enum) {
      const error = faultOf(profile(properties.field.const, op, { no: 'value' }))
      expect(error!.extra.body!.pointer).toMatch(/^\/definition\/include\/profile\/value/)
    }
  }
})

test('there are at least 12 templates, of both entities, and each is a definition', () => {
  expect(templates.length).toBeGreaterThanOrEqual(12)
  expect(new Set(templates.map(({ template_id }) => template_id)).size).toBe(templates.length)
  expect(new Set(templates.map(({ definition }) => definition.entity)).size).toBe(2)
  const topics = readFileSync(join(packageRoot, 'schemas/topics.ndjson'), 'utf8')
  for (const { definition } of templates) {
    for (const leaf of parseDefinition(definition).leaves) {
      for (const topic of leaf.kind === 'intent' ? leaf.topics : [])
        expect(topics).toContain(`"topic":"${topic}"`)
    }
  }
})

/** Anything that a body may hold, near to definitions and far from them. */
const anything = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 9, depthSize: 'medium' },
    {
      arbitrary: fc.constantFrom(visit, ceo, { intent: { topics: ['golf'], min_score: 50 } }),
      weight: 8,
    },
    fc.constantFrom({}, null, 7, 'all'),
    { arbitrary: fc.record({ all: fc.array(tie('node'), { maxLength: 4 }) }), weight: 4 },
    fc.record({ all: fc.jsonValue() }),
    { arbitrary: fc.record({ any: fc.array(tie('node'), { maxLength: 4 }) }), weight: 4 },
    fc.record({ any: fc.jsonValue() }),
    fc.record({ not: tie('node') }),
    fc.record({ profile: tie('profile') }),
    fc.record({ event: tie('event') }),
    fc.record({ audience: fc.record({ audience_id: fc.oneof(fc.uuid(), fc.jsonValue()) }) }),
    fc.record({ [fc.sample(fc.string(), 1)[0]!]: fc.jsonValue() }),
    fc.jsonValue(),
  ),
  profile: fc.record(
    {
      field: fc.oneof(fc.constantFrom(...profileFields.map(({ name }) => name)), fc.jsonValue()),
      op: fc.oneof(
        fc.constantFrom('eq', 'ne', 'gt', 'like', 'in', 'between', 'is_set'),
        fc.jsonValue(),
      ),
      value: fc.oneof(
        fc.jsonValue(),
        fc.array(fc.double()),
        fc.integer(),
        fc.string(),
        fc.boolean(),
      ),
    },
    { requiredKeys: [] },
  ),
  event: fc.record(
    {
      event_type: fc.oneof(fc.constantFrom('page_view', 'custom'), fc.jsonValue()),
      filter: fc.oneof(
        fc.constantFrom(
          'page_path:like:%a%',
          'event_data.a.b:gt:4',
          'hem:eq:a',
          'is_entry:eq:true',
          'job_title:ne:x',
        ),
        fc.string(),
        fc.jsonValue(),
      ),
      at_least: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.jsonValue()),
      within_days: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.jsonValue()),
      pixel_id: fc.oneof(fc.uuid(), fc.jsonValue()),
    },
    { requiredKeys: [] },
  ),
}))

test('whatever is sent is a definition, whose queries can be written, or 400 with a pointer', () => {
  const definitions = fc.oneof(
    fc.record(
      {
        entity: fc.constantFrom('people', 'companies'),
        include: anything.node!,
        exclude: anything.node!,
        limit: fc.oneof({ arbitrary: fc.integer({ min: 1 }), weight: 9 }, fc.jsonValue()),
      },
      { requiredKeys: ['entity', 'include'] },
    ),
    fc.jsonValue(),
  )
  let taken = 0
  fc.assert(
    fc.property(definitions, (definition) => {
      const error = faultOf(definition)
      if (error) {
        expect(error.status).toBe(400)
        expect(error.extra.body!.pointer).toMatch(/^\/definition(\/|$)/)
        return
      }
      taken++
      const parsed = parseDefinition(definition)
      const { bind } = bindings()
      const leafIds = leafIdsOf('project', parsed)
      const usedBuilds = new Map(
        parsed.leaves.flatMap((leaf) =>
          leaf.kind === 'audience' ? [[leaf.audienceId, 'build'] as const] : [],
        ),
      )
      const usedLists = {
        kinds: new Map(
          parsed.leaves.flatMap((leaf) =>
            leaf.kind === 'list' ? [[leaf.listId, 'emails'] as const] : [],
          ),
        ),
        notCompleted: [],
      }
      membersSelect(
        {
          organizationId: 'organization',
          parsed,
          leafIds,
          usedBuilds,
          usedLists,
          erased: [],
          today: 20_000,
          intentWindowDays: 30,
          eventCounts: (bind) =>
            eventCountsSelect(
              {
                organizationId: 'organization',
                projectId: 'project',
                days: [19_999, 20_000],
                asOfMs: 2e12,
                leaves: new Map(
                  parsed.leaves.flatMap((leaf, index) =>
                    leaf.kind === 'event' ? [[leafIds.get(index)!, leaf] as const] : [],
                  ),
                ),
              },
              bind,
            ),
        },
        bind,
      )
    }),
    { numRuns: 2_000 },
  )
  expect(taken).toBeGreaterThan(50)
})
