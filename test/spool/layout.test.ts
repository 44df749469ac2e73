import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import {
  openShippers,
  recoverSpool,
  type SegmentShippers,
} from '../../collector/ingest/shipper/shippers.ts'
import { unknownFiles, workerDirectories } from '../../collector/ingest/spool/layout.ts'
import { Spool, SpoolUnavailable } from '../../collector/ingest/spool/spool.ts'
import { oldestWaitingAt } from '../../collector/ingest/spool/waiting.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { newClickHouseDatabase, newPostgresDatabase } from '../harness/databases.ts'
import { waitFor } from '../harness/service.ts'
import { mountDisk, mountRefusal } from '../harness/smallDisk.ts'
import { ids, row, storedIds, writeSegment } from './segments.ts'

let directory: string
let clickhouse: ClickHouse
let shippers: SegmentShippers

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-layout-'))
  const [database, postgresUrl] = await Promise.all([
    newClickHouseDatabase(),
    newPostgresDatabase(),
  ])
  clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  const observe = { shipped() {}, duplicates() {}, deadLetter() {}, retry() {} }
  shippers = openShippers(
    clickhouse,
    { postgresUrl, collectorId: randomUUID() },
    join(directory, 'dead'),
    () => observe,
  )
})
afterEach(async () => {
  await Promise.all(Object.values(shippers).map((shipper) => shipper.stop(0)))
  await clickhouse.close()
  rmSync(directory, { recursive: true, force: true })
})

const spoolOf = (...parts: string[]): string => {
  const path = join(directory, 'spool', ...parts)
  mkdirSync(path, { recursive: true })
  return path
}
const areShipped = () =>
  waitFor('the shippers', () => Object.values(shippers).every(({ backlog }) => backlog === 0))

test('the spools of all workers are read, and unknown contents are reported', async () => {
  const [first, second, open, rejected] = [ids(10), ids(10), ids(10), ids(3)]
  writeSegment(
    spoolOf('1', 'events'),
    first.map((id) => row(id)),
    randomUUID(),
    1,
  )
  writeSegment(
    spoolOf('0', 'events'),
    second.map((id) => row(id)),
    randomUUID(),
    1,
  )
  const left = writeSegment(
    spoolOf('1', 'events'),
    open.map((id) => row(id)),
    randomUUID(),
    1,
  )
  // A process that was killed never sealed it.
  renameSync(left, left.replace(/seg$/, 'open'))
  writeSegment(
    spoolOf('0', 'rejected_events'),
    rejected.map((id) => `{"received_at":"${new Date().toISOString()}","event_id":"${id}"}`),
    randomUUID(),
    1,
  )
  writeSegment(spoolOf('0', 'identity_links'), [`{"hem":"${'a'.repeat(64)}"}`], randomUUID(), 1)
  const later = writeSegment(spoolOf('shard-7', 'events', 'new'), [row()], randomUUID(), 1)
  const stranger = join(spoolOf('0', 'events'), 'notes.txt')
  writeFileSync(stranger, 'left by somebody')

  const spool = join(directory, 'spool')
  expect(unknownFiles(spool).sort()).toEqual([later, stranger].sort())
  expect(oldestWaitingAt(spool)).toBeLessThan(Date.now())
  for (const part of workerDirectories(spool)) recoverSpool(part, shippers, true)
  await areShipped()
  expect(await storedIds(clickhouse)).toEqual([...first, ...second, ...open].sort())
  const count = async (table: string) =>
    (
      await clickhouse.rows<{ rows: number }>({
        sql: `SELECT count() AS rows FROM ${table}`,
        params: {},
      })
    )[0]!.rows
  expect([await count('rejected_events'), await count('identity_links')]).toEqual([3, 1])
})

test('a disk that was full takes events again as soon as what was on it is shipped', async (context) => {
  const refusal = mountRefusal()
  context.skip(refusal !== null, refusal ?? '')
  const disk = spoolOf('0', 'events')
  const unmount = mountDisk(disk)
  const spool = new Spool({
    directory: disk,
    segmentBytesMax: 4 * 1024 ** 2,
    sealAfterMs: 100,
    bytesMax: 1024 ** 3,
    onSealed: (path) => sealed.push(path),
    onNoRoom() {
      for (const shipper of Object.values(shippers)) shipper.makeRoom()
    },
  })
  const sealed: string[] = []
  const padding = `,"user_agent":"${'x'.repeat(50_000)}"}`
  const append = async () => {
    const rows = ids(20)
    await spool.append(
      rows.map(
        (id) =>
          row(id)
            .replace(/,"user_agent":"[^"]*"/, '')
            .slice(0, -1) + padding,
      ),
    )
    return rows
  }
  const kept: string[] = []
  try {
    let refused: unknown
    while (!refused) {
      await append().then(
        (rows) => kept.push(...rows),
        (error) => {
          refused = error
        },
      )
      // Some of it is shipped before the disk is full, and kept.
      if (sealed.length === 2) for (const path of sealed.splice(0)) shippers.events.add(path)
    }
    expect(refused).toBeInstanceOf(SpoolUnavailable)
    await waitFor('an event to be taken', async () => {
      for (const path of sealed.splice(0)) shippers.events.add(path)
      return append().then(
        (rows) => kept.push(...rows),
        () => false,
      )
    })
    await spool.close()
    for (const path of sealed.splice(0)) shippers.events.add(path)
    await areShipped()
    expect(await storedIds(clickhouse)).toEqual(kept.sort())
    await waitFor('nothing to be left on it', () => readdirSync(disk).length === 0)
  } finally {
    await spool.close()
    await Promise.all(Object.values(shippers).map((shipper) => shipper.stop(0)))
    unmount()
  }
}, 600_000)
