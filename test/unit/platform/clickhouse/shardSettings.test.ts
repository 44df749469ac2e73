import { expect, test } from 'vitest'
import { readConfig } from '../../../../collector/config.ts'

test('settings that cannot be are told', () => {
  const [a, b] = ['http://u:secret@a:8123', 'http://u:secret@b:8123']
  const read = (env: Record<string, string>) => () => readConfig(env).clickhouse
  expect(
    read({ CLICKHOUSE_SHARDS: `${a}|${b}, http://c:8123`, CLICKHOUSE_CLUSTER: 'main' })(),
  ).toEqual({
    name: 'main',
    shards: [[a, b], ['http://c:8123']],
  })
  expect(read({ CLICKHOUSE_SHARDS: a })()).toBe(a)
  expect(read({ CLICKHOUSE_URL: a })()).toBe(a)
  expect(read({})()).toBe(null)
  for (const [env, said] of [
    [{ CLICKHOUSE_SHARDS: `${a},${b}` }, 'CLICKHOUSE_SHARDS needs CLICKHOUSE_CLUSTER'],
    [{ CLICKHOUSE_CLUSTER: 'main' }, 'CLICKHOUSE_CLUSTER needs CLICKHOUSE_SHARDS'],
    [{ CLICKHOUSE_URL: a, CLICKHOUSE_SHARDS: b }, 'remove one'],
    [{ CLICKHOUSE_SHARDS: `${a},${a}`, CLICKHOUSE_CLUSTER: 'main' }, 'names a server twice'],
    [{ CLICKHOUSE_SHARDS: `${a},secret`, CLICKHOUSE_CLUSTER: 'main' }, 'must be addresses'],
    [{ CLICKHOUSE_SHARDS: `${a}|`, CLICKHOUSE_CLUSTER: 'main' }, 'must be addresses'],
    [
      { CLICKHOUSE_SHARDS: `${a},${b}`, CLICKHOUSE_CLUSTER: "it's" },
      'letters, digits and underscores',
    ],
  ] as [Record<string, string>, string][]) {
    expect(read(env)).toThrow(said)
    expect(read(env)).not.toThrow('secret')
  }
})
