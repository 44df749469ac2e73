import type { Random } from '../../collector/platform/seededRandom.ts'

/** In JSON as these digits, not as a text: what JavaScript's numbers cannot hold. See `jsonOf`. */
const digits = (text: string): string => `@digits:${text}@`

/** JSON with `digits` as numbers, and `__proto__` written with an escape. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/"@digits:(-?\d+)@"/g, '$1')
    .replaceAll('__proto__', '__pr\\u006fto__')

const nested = (depth: number, isArray: boolean): unknown => {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = isArray ? [value] : { a: value }
  return value
}

const wide = (keys: number) =>
  Object.fromEntries(Array.from({ length: keys }, (_, n) => [`k${n}`, n]))

/** Values that have broken parsers: each call a fresh one. */
const values: ((random: Random) => unknown)[] = [
  () => null,
  () => true,
  () => '',
  () => 0,
  () => -1,
  () => 1e308,
  () => 2 ** 53,
  ({ integer }) => digits(`${integer(1, 9)}${integer(1e14, 9e14)}${integer(100, 999)}`),
  // As long as a card's number, with its check digit.
  () => digits('6742005955800414303'),
  () => [],
  () => ({}),
  () => ({ toString: 1, valueOf: 1 }),
  () => ({ toJSON: 'x', constructor: null, hasOwnProperty: 0 }),
  () => JSON.parse('{"__proto__":{"polluted":true}}'),
  () => JSON.parse('{"a":[{"__proto__":null}]}'),
  () => ['\ud800', { '\udc00': '\ud83d' }],
  () => '\u0000 \u0001\u2028 \ufeff',
  () => '\ud83d half',
  () => '\u202e👩‍👩‍👧 é',
  () => "'; DROP TABLE events; --",
  () => '{{7*7}} <script>alert(1)</script>',
  () => 'javascript:alert(1)',
  () => 'http://[',
  () => 'data:text/html,x',
  () => '%00%ff%',
  () => '__proto__',
  () => 'constructor',
  ({ integer }) => 'x'.repeat(integer(1, 12_000)),
  ({ pick, integer }) =>
    pick(['&', '?', ';', '#', ' ', '/', '.', '=', ']', '%5d', 'a', '\\']).repeat(integer(1, 9_000)),
  ({ pick, integer }) =>
    `http://x.example/?token=${pick(['&', 'a', 'token', '%5d'])}`.concat(
      '&'.repeat(integer(1, 9_000)),
    ),
  ({ integer, chance }) => nested(integer(1, 3_000), chance(0.5)),
  ({ integer }) => wide(integer(1, 1_500)),
  ({ integer }) => Array.from({ length: integer(1, 2_000) }, () => ({})),
]

export const hostileValue = (random: Random): unknown => random.pick(values)(random)

/** A place in a value: the object and the key in it. */
function placesIn(value: unknown, depth = 0): [Record<string, unknown>, string][] {
  if (typeof value !== 'object' || value === null || depth > 6) return []
  const parent = value as Record<string, unknown>
  return Object.keys(parent).flatMap((key) => [
    [parent, key] as [Record<string, unknown>, string],
    ...placesIn(parent[key], depth + 1),
  ])
}

/** Changes some of a value: members replaced, removed, renamed, added, doubled. Answers the places it left alone. */
export function mutate(random: Random, value: object): void {
  for (let times = random.integer(1, 3); times > 0; times--) {
    const places = placesIn(value)
    if (places.length === 0) return
    const [parent, key] = random.pick(places)
    switch (random.integer(0, 5)) {
      case 0:
        delete parent[key]
        break
      case 1:
        if (Array.isArray(parent)) parent.push(parent[0])
        else
          parent[random.pick(['toString', 'length', '\ud800', '\u0000', 'x'.repeat(300), 'type'])] =
            parent[key]
        break
      case 2:
        parent[key] = [parent[key], parent[key]]
        break
      case 3:
        Object.defineProperty(parent, '__proto__', {
          writable: true,
          value: parent[key],
          enumerable: true,
          configurable: true,
        })
        break
      default:
        parent[key] = hostileValue(random)
    }
  }
}
