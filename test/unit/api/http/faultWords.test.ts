import { type TSchema, Type } from 'typebox'
import { expect, test } from 'vitest'
import { validatorCompiler } from '../../../../collector/api/http/validation.ts'

/** The message for a value of the field `field` in a body. */
function messageFor(field: TSchema, value: unknown, name = 'field'): string {
  const schema = Type.Object({ [name]: field }, { additionalProperties: false })
  const check = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' })
  const { error } = check({ [name]: value }) as { error?: Error }
  return error?.message ?? ''
}

const long = 'x'.repeat(500)

test.each<[string, TSchema, unknown, string]>([
  ['type', Type.String(), 1, 'must be a string (got 1)'],
  ['types', Type.Union([Type.String(), Type.Null()]), 1, 'must be a string or null (got 1)'],
  ['boolean type', Type.Boolean(), 'yes', 'must be true or false (got "yes")'],
  ['array type', Type.Array(Type.String()), { a: 1 }, 'must be an array (got an object)'],
  ['const', Type.Literal('a'), 'b', 'must be "a" (got "b")'],
  [
    'choices',
    Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Literal('c')]),
    'd',
    'must be one of "a", "b" or "c" (got "d")',
  ],
  ['enum', Type.Enum(['a', 'b']), 'd', 'must be "a" or "b" (got "d")'],
  ['uuid', Type.String({ format: 'uuid' }), 'x', 'must be a UUID (got "x")'],
  ['email', Type.String({ format: 'email' }), 'x', 'must be an e-mail address (got "x")'],
  ['date', Type.String({ format: 'date' }), 'x', 'must be a day as YYYY-MM-DD (got "x")'],
  ['pattern', Type.String({ pattern: '^a$' }), 'x', 'must match the pattern ^a$ (got "x")'],
  [
    'integer',
    Type.Integer({ minimum: 1, maximum: 5000 }),
    0,
    'must be a whole number from 1 to 5000 (got 0)',
  ],
  ['minimum', Type.Number({ minimum: 2 }), 1, 'must be at least 2 (got 1)'],
  ['maximum', Type.Number({ maximum: 2 }), 3, 'must be at most 2 (got 3)'],
  ['exclusive', Type.Number({ exclusiveMinimum: 2 }), 2, 'must be greater than 2 (got 2)'],
  ['multiple', Type.Number({ multipleOf: 5 }), 3, 'must be a multiple of 5 (got 3)'],
  ['empty', Type.String({ minLength: 1 }), '', 'must not be empty (got "")'],
  ['too short', Type.String({ minLength: 3 }), 'x', 'must have at least 3 characters (got "x")'],
  [
    'too long',
    Type.String({ maxLength: 3 }),
    long,
    `must have at most 3 characters (got "${'x'.repeat(60)}…")`,
  ],
  [
    'few items',
    Type.Array(Type.Any(), { minItems: 1 }),
    [],
    'must have at least 1 item (got an array of 0 items)',
  ],
  [
    'many items',
    Type.Array(Type.Any(), { maxItems: 1 }),
    [1, 2],
    'must have at most 1 item (got an array of 2 items)',
  ],
  [
    'items twice',
    Type.Array(Type.Any(), { uniqueItems: true }),
    [1, 1],
    'must not have an item twice (got an array of 2 items)',
  ],
])('names what is allowed and what was given: %s', (_keyword, field, value, words) => {
  expect(messageFor(field, value)).toBe(`field: ${words}`)
})

test('names a field that is required, and one that is unknown', () => {
  const Inner = Type.Object({ name: Type.String() }, { additionalProperties: false })
  expect(messageFor(Inner, {})).toBe('field.name: is required in the body')
  const unknown = messageFor(Inner, { name: 'x', [long]: 1 })
  expect(unknown).toContain('field')
  expect(unknown.length).toBeLessThan(200)
})

test.each(['password', 'api_secret', 'code', 'access_token'])('never repeats a %s', (name) => {
  const message = messageFor(Type.String({ maxLength: 3 }), 'hunter2', name)
  expect(message).toBe(`${name}: must have at most 3 characters`)
})
