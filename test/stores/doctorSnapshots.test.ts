import { expect, inject, onTestFinished, test } from 'vitest'
import { examineSnapshots } from '../../collector/ops/doctor/checkClickHouse.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { newClickHouseDatabase } from '../harness/databases.ts'

test('doctor finds the snapshots of a killed backup, but not those of one that runs', async () => {
  const database = await newClickHouseDatabase()
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  onTestFinished(() => clickhouse.close())
  const examine = (olderThanSeconds?: number) =>
    examineSnapshots(clickhouse, 'ClickHouse', database, olderThanSeconds)
  expect(await examine(0)).toEqual([])
  await clickhouse.command({ sql: 'CREATE TABLE backup_events AS events', params: {} })
  expect(await examine()).toEqual([])
  expect(await examine(0)).toEqual([
    {
      ok: false,
      text: expect.stringMatching(
        /^1 snapshot of an interrupted backup of 20\d\d-\d\d-\d\d in ClickHouse: .*npx footfall-server backup removes them$/,
      ),
    },
  ])
})
