/** Schemas of tracking plans judge values as JSON Schema does, in linear time, and within limits. */
import { performance } from 'node:perf_hooks'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compilePlan } from '../../../../collector/ingest/plan/compilePlan.ts'
import { compileSchema } from '../../../../collector/ingest/plan/compileSchema.ts'
import { findPlanFault } from '../../../../collector/ingest/plan/planFault.ts'
import {
  findSchemaFault,
  type PlanSchema,
  schemaFormats,
  schemaTypes,
} from '../../../../collector/ingest/plan/schemaLimits.ts'
import { randomRuns } from '../../../harness/thorough.ts'

const names = ['a', 'b', 'constructor', 'toString'] as const
const scalar = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(0.5, -1.5, 'a', 'bb', 'aé', '😀', '2026-11-25', '', null, true, false),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).any

const optional = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.option(arbitrary, { nil: undefined, freq: 3 })
const count = fc.integer({ min: 0, max: 3 })
const schema = fc.letrec<{ any: PlanSchema }>((tie) => ({
  any: fc
    .record({
      type: optional(
        fc.oneof(
          fc.constantFrom(...schemaTypes),
          fc.uniqueArray(fc.constantFrom(...schemaTypes), { minLength: 1, maxLength: 3 }),
        ),
      ),
      enum: fc.option(fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }), {
        nil: undefined,
        freq: 2,
      }),
      minimum: optional(count),
      exclusiveMaximum: optional(count),
      minLength: optional(count),
      maxLength: optional(count),
      minItems: optional(count),
      maxItems: optional(count),
      pattern: fc.option(fc.constantFrom('^a', 'b{2}$', '[a-z]é?', '.'), {
        nil: undefined,
        freq: 2,
      }),
      required: optional(fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 })),
      properties: fc.option(
        fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 2, noNullPrototype: true }),
        { nil: undefined, depthSize: 'small', maxDepth: 3 },
      ),
      additionalProperties: optional(fc.boolean()),
      items: fc.option(tie('any'), { nil: undefined, maxDepth: 3, freq: 2 }),
      anyOf: fc.option(fc.array(tie('any'), { minLength: 1, maxLength: 2 }), {
        nil: undefined,
        maxDepth: 3,
        freq: 1,
      }),
    })
    .map((given) => JSON.parse(JSON.stringify(given))),
})).any

describe('a compiled schema', () => {
  test('accepts what Ajv accepts, and refuses the rest', () => {
    const ajv = new Ajv2020({ strict: false, ownProperties: true })
    addFormats.default(ajv)
    const runs = randomRuns(60, 2_000)
    let accepted = 0
    let refused = 0
    fc.assert(
      fc.property(schema, value, (written, given) => {
        const oracle = ajv.compile(written)(given) as boolean
        if (oracle) accepted++
        else refused++
        expect(compileSchema(written)(given) === undefined).toBe(oracle)
      }),
      runs,
    )
    expect(Math.min(accepted, refused)).toBeGreaterThan(runs.numRuns / 40)
  })

  test.each(schemaFormats)('knows the format %s as Ajv does', (format) => {
    const ajv = new Ajv2020({ strict: false })
    addFormats.default(ajv)
    const oracle = ajv.compile({ format })
    const texts = [
      '2026-11-25',
      '2026-13-01',
      '2026-11-25T10:00:00Z',
      '2026-11-25T10:00:00+01:00',
      'a@example.com',
      'a@',
      'https://x.example/a?b#c',
      'x',
      '',
      '6f9619ff-8b86-4d01-b42d-00cf4fc964ff',
      '6f9619ff',
    ]
    for (const text of texts)
      expect([text, compileSchema({ format })(text) === undefined]).toEqual([text, oracle(text)])
  })

  test('names the place of a fault and the allowed values', () => {
    const check = compileSchema({
      type: 'object',
      required: ['plan'],
      properties: {
        plan: { enum: ['free', 'pro'] },
        items: { type: 'array', items: { type: 'object', properties: { 'a/b': { minimum: 1 } } } },
      },
      additionalProperties: false,
    })
    expect(check({})).toEqual({ path: '/plan', message: 'is required' })
    expect(check({ plan: 'gold' })).toEqual({
      path: '/plan',
      message: 'must be one of "free", "pro"',
    })
    expect(check({ plan: 'pro', items: [{}, { 'a/b': 0 }] })).toEqual({
      path: '/items/1/a~1b',
      message: 'must be at least 1',
    })
    expect(check({ plan: 'pro', seats: 1 })).toEqual({
      path: '/seats',
      message: 'must be one of the planned properties plan, items',
    })
  })

  test('matches a pattern in linear time, whatever the text', () => {
    for (const pattern of ['^(a+)+$', '(a|aa)+$', '(.*a){20}$', '^(([a-z])+.)+[A-Z]([a-z])+$']) {
      const check = compileSchema({ pattern })
      check('warm')
      const began = performance.now()
      check(`${'a'.repeat(499)}!`)
      expect(performance.now() - began, pattern).toBeLessThan(500)
    }
    expect(compileSchema({ pattern: '^a' })('a'.repeat(501))?.message).toContain('at most 500')
  })
})

test('the patterns of a plan take at most a tenth of the time of the collector', () => {
  const pattern = '(?i)(?:\\pL?\\pL?\\pL?\\pL?\\pL?\\pL?){60}[xy]'
  const texts = { type: 'array', items: { anyOf: Array(10).fill({ pattern }) } }
  const schema = { type: 'object', properties: { texts } }
  expect(findSchemaFault(schema)).toBeUndefined()
  const plan = compilePlan({
    on_violation: 'reject',
    on_unplanned: 'accept',
    events: { Order: { schema } },
  })
  const began = performance.now()
  for (let event = 0; event < 4; event++) {
    const properties = { texts: Array(30).fill('a'.repeat(500)) }
    plan.violationOf({ name: 'Order', properties })
  }
  expect(performance.now() - began).toBeLessThan(1_000)
})

describe('refused is a schema', () => {
  const nested = (depth: number): PlanSchema =>
    depth === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(depth - 1) } }
  test.each<[string, object, string]>([
    ['that is no object', { type: 'string' }, '/type'],
    [
      'with a reference',
      { type: 'object', properties: { a: { $ref: '#' } } },
      '/properties/a/$ref',
    ],
    ['with an unknown keyword', { type: 'object', propertees: {} }, '/propertees'],
    [
      'with a look-ahead',
      { type: 'object', properties: { a: { pattern: '(?=a)' } } },
      '/properties/a/pattern',
    ],
    [
      'with a back-reference',
      { type: 'object', properties: { a: { pattern: '(a)\\1' } } },
      '/properties/a/pattern',
    ],
    [
      'with a long pattern',
      { type: 'object', properties: { a: { pattern: 'a'.repeat(201) } } },
      '/properties/a/pattern',
    ],
    [
      'with counted repeats of counted repeats',
      { type: 'object', properties: { a: { pattern: '((a{100}){100}){100}' } } },
      '/properties/a/pattern',
    ],
    [
      'with a pattern that compiles to many instructions',
      { type: 'object', properties: { a: { pattern: `(?i)(?:${'\\pL?'.repeat(15)}){1000}` } } },
      '/properties/a/pattern',
    ],
    ['that is too deep', nested(9), '/properties/a'.repeat(8)],
    ['that is too large', { type: 'object', description: 'a'.repeat(33_000) }, ''],
    [
      'with too many schemas',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 301 }, (_, n) => [n, {}])),
      },
      '/properties/299',
    ],
    [
      'with an unknown format',
      { type: 'object', properties: { a: { format: 'regex' } } },
      '/properties/a/format',
    ],
    [
      'with values that are objects',
      { type: 'object', properties: { a: { enum: [{}] } } },
      '/properties/a/enum',
    ],
  ])('%s', (_, written, path) => {
    expect(findSchemaFault(written)?.path).toBe(path)
  })

  test('with too many patterns', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 11 }, (_, n) => [n, { pattern: 'a' }]),
    )
    expect(findSchemaFault({ type: 'object', properties })?.message).toContain(
      'at most 10 patterns',
    )
  })

  test('in a plan whose patterns compile to many instructions together', () => {
    const schema = { type: 'object', properties: { a: { pattern: '^(a{1,9}b){1,40}$' } } }
    const events = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`Order ${n}`, { schema }]),
    )
    expect(findPlanFault({ events })?.message).toContain('all patterns together')
  })

  test('in a plan, with the name of its event', () => {
    const events = { Order: { schema: { type: 'object', items: 1 } } }
    expect(findPlanFault({ events })).toMatchObject({ path: '/events/Order/schema/items' })
    expect(
      findPlanFault({ events: { ['x'.repeat(101)]: { schema: { type: 'object' } } } })?.path,
    ).toBe('/events')
  })
})
