import { randomUUID } from 'node:crypto'
import { afterAll, expect, inject, test } from 'vitest'
import { partitionCondition, partitionOf } from '../../../../collector/ingest/nats/streams.ts'
import { openClickHouse } from '../../../../collector/platform/clickhouse/openClickHouse.ts'
import { row } from '../../../spool/segments.ts'

const clickhouse = openClickHouse(inject('clickhouseUrl'), 'default')
afterAll(() => clickhouse.close())

test('an event is in the same partition for collectors and for ClickHouse, whatever else it contains', async () => {
  const project = randomUUID()
  const all = Array.from({ length: 200 }, () => randomUUID())
  const found = await clickhouse.rows<{ partition: number }>({
    sql: `SELECT ${partitionCondition.sql.replace(/ = \{partition:UInt32\}$/, '')} AS partition
          FROM (SELECT {project:UUID} AS project_id, arrayJoin({ids:Array(UUID)}) AS event_id)`,
    params: { project, ids: all, partitions: 16 },
  })
  const ours = all.map((id) => partitionOf(row(id, Date.now(), project), 16))
  expect(ours).toEqual(found.map(({ partition }) => Number(partition)))
  expect(new Set(ours).size).toBe(16)
  expect(all.map((id) => partitionOf(row(id, 1, project), 16))).toEqual(ours)
})
