import { randomUUID } from 'node:crypto'
import { expect, inject, test } from 'vitest'
import { openClickHouse } from '../../../../collector/platform/clickhouse/openClickHouse.ts'
import {
  shardingKey,
  shardOf,
  splitByShard,
} from '../../../../collector/platform/clickhouse/shards.ts'

test('the shard of a project is the one that ClickHouse computes', async () => {
  const projects = [
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'ffffffff-ffff-ffff-ffff-fffffffffff0',
    ...Array.from({ length: 2_000 }, () => randomUUID()),
  ]
  const clickhouse = openClickHouse(inject('clickhouseUrl'), 'default')
  for (const shards of [1, 2, 3, 16]) {
    const rows = await clickhouse.rows<{ shard: number }>({
      sql: `SELECT toUInt32(${shardingKey('arrayJoin({projects:Array(UUID)})')} % {shards:UInt32}) AS shard`,
      params: { projects, shards },
    })
    expect(projects.map((id) => shardOf(id, shards))).toEqual(rows.map(({ shard }) => shard))
  }
  await clickhouse.close()
})

test('lines are split by the shards of their projects, each once and in their order', () => {
  const projects = Array.from({ length: 9 }, () => randomUUID())
  const line = (n: number) => `{"n":${n},"project_id":"${projects[n % 9]}"}\n`
  const payloads = [
    Array.from({ length: 50 }, (_, n) => line(n)),
    Array.from({ length: 50 }, (_, n) => line(50 + n)),
  ].map((lines) => Buffer.from(lines.join('')))
  const parts = splitByShard(payloads, 3)
  for (const { shard, payloads } of parts) {
    const expected = Array.from({ length: 100 }, (_, n) => n).filter(
      (n) => shardOf(projects[n % 9]!, 3) === shard,
    )
    expect(Buffer.concat(payloads).toString()).toBe(expected.map(line).join(''))
  }
  expect(parts.reduce((sum, { payloads }) => sum + Buffer.concat(payloads).length, 0)).toBe(
    Buffer.concat(payloads).length,
  )
})
