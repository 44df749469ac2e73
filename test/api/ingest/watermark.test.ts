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
 * The first published watermark, when workers and shipper report these marks, and a replicated log `stored`. Null stands
 * for a silent worker, or a log that does not know.
 */
async function firstMark({
  workers,
  shipper,
  stored,
}: {
  workers: number[] | null
  shipper: number
  stored?: number | null
}) {
  const collectorId = randomUUID()
  const kept: number[] = []
  let rounds = 0
  let written = null as number[] | null
  const storedUntil = async (...of: number[]) => {
    written = of
    return stored ?? null
  }
  const watermark = keepWatermark({
    workers: {
      lowMarks: async () => {
        rounds++
        return workers?.map((mark, position) => ({ mark, position })) ?? null
      },
    },
    shipper: { lowMark: shipper, noticeRestart: async () => {} },
    replicatedLog: stored === undefined ? null : { storedUntil },
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
  return { published: rows[0]?.ms ?? null, kept: kept[0] ?? null, ...(written && { written }) }
}

test('a watermark is the earliest of what workers keep and of what waits to be shipped', async () => {
  const at = Math.floor(await postgresMs()) - 60_000
  const both = { published: at, kept: at }
  expect(await firstMark({ workers: [at + 1_000, at, at + 500], shipper: at + 300 })).toEqual(both)
  expect(await firstMark({ workers: [at + 1_000, at + 500], shipper: at })).toEqual(both)
})

test('a replicated log is asked for the earliest mark and the last position of the workers, and its answer counts', async () => {
  const at = Math.floor(await postgresMs()) - 60_000
  const workers = [at + 1_000, at + 2_000]
  const written = [at + 1_000, 1]
  const both = { published: at, kept: at, written }
  expect(await firstMark({ workers, shipper: at + 1_000, stored: at })).toEqual(both)
  expect(await firstMark({ workers, shipper: at, stored: at + 1_000 })).toEqual(both)
  expect(await firstMark({ workers, shipper: at, stored: null })).toEqual({
    published: null,
    kept: null,
    written,
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
