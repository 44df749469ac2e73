import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { expect, test } from 'vitest'
import { errorsOf, validatorCompiler } from '../../../../collector/api/http/validation.ts'

const Row = Type.Object({ name: Type.String() }, { additionalProperties: false })
const few = Compile(Type.Object({ rows: Type.Array(Row, { maxItems: 50 }) }))
const many = Compile(Type.Object({ rows: Type.Array(Row, { maxItems: 100_000 }) }))

/** An array of a million wrong members that counts how often one is read. */
function counted() {
  const reads = { count: 0 }
  const rows = new Proxy(new Array(1_000_000).fill(1), {
    get(target, name, receiver) {
      if (typeof name === 'string' && /^\d/.test(name)) reads.count++
      return Reflect.get(target, name, receiver)
    },
  })
  return { rows, reads }
}

test.each([
  ['one that takes few', few],
  ['one that takes many', many],
  ['one that takes none', Compile(Type.Object({ rows: Type.String() }))],
])(
  'what is wrong with a million members is told after a look at the first: %s',
  (_of, validator) => {
    const { rows, reads } = counted()
    expect(errorsOf(validator, { rows })[0]!.instancePath).toMatch(/^\/rows/)
    expect(reads.count).toBeLessThanOrEqual(20_000)
  },
)

test('too many members are told, however good they are', () => {
  const rows = new Array(200_000).fill({ name: 'x' })
  expect(errorsOf(many, { rows })).toMatchObject([{ keyword: 'maxItems', instancePath: '/rows' }])
})

test('an error far behind is found', () => {
  const rows = new Array(50_000).fill({ name: 'x' })
  rows[40_000] = { name: 1 }
  expect(errorsOf(many, { rows })[0]!.instancePath).toBe('/rows/40000/name')
})

test('an object with very many members is not looked through, wherever it is', () => {
  const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`k${index}`, 1]))
  for (const at of [0, 40_000]) {
    const rows = new Array<unknown>(50_000).fill({ name: 'x' })
    rows[at] = wide
    expect(errorsOf(many, { rows })).toMatchObject([{ keyword: 'maxProperties' }])
  }
})

test('addresses lose the blanks around them at any depth, ids become lower case, and other texts stay', () => {
  const Email = Type.String({ format: 'email' })
  const Uuid = Type.String({ format: 'uuid' })
  const Contact = Type.Object({
    name: Type.String(),
    email: Type.Union([Email, Type.Null()]),
    ids: Type.Array(Uuid),
  })
  const schema = Type.Object({
    email: Type.Optional(Email),
    contacts: Type.Array(Contact),
    owner: Type.Object({ contact: Type.Union([Contact, Type.Null()]) }),
  })
  const check = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' })
  const bodyOf = (name: string, email: string, id: string) => ({
    email,
    contacts: [
      { name, email, ids: [id, id] },
      { name, email: null, ids: [] },
    ],
    owner: { contact: { name, email, ids: [id] } },
  })
  const [upper, lower] = [
    'AAAAAAAA-0000-4000-8000-00000000000B',
    'aaaaaaaa-0000-4000-8000-00000000000b',
  ]
  expect(check(bodyOf(' Ada ', ' ada@one.example\n', upper))).toEqual({
    value: bodyOf(' Ada ', 'ada@one.example', lower),
  })
})
