import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keepWatermark } from '../../../collector/ingest/shipper/watermark.ts'
import { openPostgres, type Postgres } from '../../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../../harness/databases.ts'
import { waitFor } from '../../harness/service.ts'

let postgres: Postgres
beforeAll(async () => {
  postgres = openPostgres(await newPostgresDatabase(), () => {})
})
afterAll(() => postgres?.end())

const postgresMs = async () =>
  Number(
    (
      await postgres.query<{ ms: string }>(
        'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms',
      )
    ).rows[0]!.ms,
  )

/**
 * The first published watermark, when workers and shipper report these marks, and the shippers of a replicated log
 * `doubtfulFrom`. Null stands for a silent worker.
 */
async function firstMark({
  workers,
  shipper,
  doubtfulFrom,
}: {
  workers: number[] | null
  shipper: number
  doubtfulFrom?: number
}) {
  const collectorId = randomUUID()
  const kept: number[] = []
  let rounds = 0
  const watermark = keepWatermark({
    workers: {
      lowMarks: async () => {
        rounds++
        return workers
      },
    },
    shipper: { lowMark: shipper, noticeRestart: async () => {} },
    readProgress:
      doubtfulFrom === undefined ? undefined : async () => ({ committed: [], doubtfulFrom }),
    postgres,
    collectorId,
    keep: (mark) => kept.push(mark),
    log: { warn: () => {} },
  })
  await waitFor('a second round', () => rounds > 1)
  await watermark.stop()
  const { rows } = await postgres.query<{ ms: number }>(
    'SELECT complete_until_ms::float8 AS ms FROM collectors WHERE collector_id = $1',
    [collectorId],
  )
  return { published: rows[0]?.ms ?? null, kept: kept[0] ?? null }
}

test('a watermark is the earliest of what workers keep and of what waits to be shipped', async () => {
  const at = Math.floor(await postgresMs()) - 60_000
  const both = { published: at, kept: at }
  expect(await firstMark({ workers: [at + 1_000, at, at + 500], shipper: at + 300 })).toEqual(both)
  expect(await firstMark({ workers: [at + 1_000, at + 500], shipper: at })).toEqual(both)
})

test('a watermark of a replicated log is not after the rows that its shippers doubt', async () => {
  const at = Math.floor(await postgresMs()) - 60_000
  const later = { workers: [at + 1_000], shipper: at + 1_000 }
  expect(await firstMark({ ...later, doubtfulFrom: at })).toEqual({ published: at, kept: at })
  expect(await firstMark({ ...later, doubtfulFrom: Infinity })).toEqual({
    published: at + 1_000,
    kept: at + 1_000,
  })
})

test('a watermark is never ahead of PostgreSQL’s clock', async () => {
  const ahead = (await postgresMs()) + 3_600_000
  const { published } = await firstMark({ workers: [ahead], shipper: ahead })
  expect(published).toBeLessThanOrEqual(await postgresMs())
})

test('nothing is published while a worker does not answer', async () => {
  expect(await firstMark({ workers: null, shipper: 1 })).toEqual({ published: null, kept: null })
})
