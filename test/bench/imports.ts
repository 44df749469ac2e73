import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { nextLineAt } from '../../collector/ingest/spool/rowFields.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { eventColumns } from '../../schemas/fields.ts'
import { chrome } from '../harness/api.ts'
import { newEventId } from '../harness/eventId.ts'
import { readStore } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { interleave, median } from './stats.ts'

const days = 30
const dayMs = 86_400_000
const rowsPerInsert = 40_000

/** `footfall-server events import` of a file of lines ÷ inserting the rows that it stores. */
export function imports({ repeats, sizes, log }: Bench): Promise<Row> {
  return withService(async (service) => {
    const { url, database } = readStore(service)
    const clickhouse = openClickHouse(url, database)
    const path = join(service.dataDir, 'history.ndjson')
    log(`writing ${sizes.events} lines`)
    await pipeline(Readable.from(historyOf(sizes)), createWriteStream(path))
    const empty = () => clickhouse.command({ sql: 'TRUNCATE TABLE events', params: {} })
    const timed = async (run: () => Promise<unknown>) => {
      await empty()
      const startedAt = performance.now()
      await run()
      const seconds = (performance.now() - startedAt) / 1_000
      const [stored] = await clickhouse.rows<{ rows: number }>({
        sql: 'SELECT count() AS rows FROM events',
        params: {},
      })
      if (stored!.rows !== sizes.events) throw new Error(`${stored!.rows} rows were stored`)
      return sizes.events / seconds
    }
    const cli = join(packageRoot, 'dist/collector/cli.js')
    const command = [cli, 'events', 'import', '--pixel', service.demo.pixel_id, path]
    const processorSeconds: number[] = []
    const importFile = async () => {
      const timing = 'TIMEFORMAT="%U %S"; time "$0" "$@"'
      const { stderr } = await promisify(execFile)(
        'bash',
        ['-c', timing, process.execPath, ...command],
        { env: { ...process.env, FOOTFALL_DATA_DIR: service.dataDir } },
      )
      const [user, system] = stderr.trim().split('\n').at(-1)!.split(' ').map(Number)
      processorSeconds.push(user! + system!)
    }
    await timed(importFile)
    const blocks = await storedBlocks(clickhouse)
    const insertRaw = async () => {
      for (const block of blocks) {
        const lines = Readable.from([block], { objectMode: false })
        await clickhouse.insertLines('events', lines, randomUUID())
      }
    }
    const { a, b, ratio } = await interleave(
      repeats,
      () => timed(importFile),
      () => timed(insertRaw),
    )
    await clickhouse.close()
    return {
      what: 'events/s of importing a file ÷ raw insert of its rows',
      value: ratio.toFixed(2),
      target: '≥ 0.5',
      detail: `${a.toFixed(0)} ÷ ${b.toFixed(0)} events/s, ${sizes.events} events, ${repeats} pairs; ${((median(processorSeconds) * 1e6) / sizes.events).toFixed(1)} µs of processor time of the command for an event`,
    }
  })
}

/** The stored rows as lines, in blocks of about the size that the import inserts. */
async function storedBlocks(clickhouse: ReturnType<typeof openClickHouse>): Promise<Buffer[]> {
  const names = eventColumns
    .filter(({ alias, materialized }) => !alias && !materialized)
    .map(({ name }) => name)
  const { body } = await clickhouse.stream(
    {
      sql: `SELECT organization_id, spool_id, seq, ${names.join(', ')} FROM events ORDER BY seq`,
      params: {},
    },
    'JSONEachRow',
  )
  const bytes = await buffer(body)
  const blocks: Buffer[] = []
  for (let from = 0, at = 0, rows = 0; at < bytes.length; ) {
    at = nextLineAt(bytes, at)
    if (++rows % rowsPerInsert > 0 && at < bytes.length) continue
    blocks.push(bytes.subarray(from, at))
    from = at
  }
  return blocks
}

/** Lines of page views of the last month, oldest first. */
function* historyOf({ events, cookies }: Bench['sizes']): Generator<string> {
  const newest = Date.now() - dayMs
  const ids = Array.from({ length: cookies }, () => randomUUID())
  for (let number = 0; number < events; number++) {
    const millis = newest - Math.floor(((events - number) * days * dayMs) / events)
    const timestamp = new Date(millis).toISOString()
    const url = `https://shop.example/p/${number % 500}`
    const event = {
      event_id: newEventId(millis),
      event_type: 'page_view',
      timestamp,
      cookie_id: ids[(number * 7_919) % cookies],
      user_agent: chrome,
      client_ip: `203.0.113.${number % 250}`,
      event_data: {
        url,
        title: `Pot ${number % 500}`,
        referrer: null,
        screen: { height: 1080, width: 1920 },
        viewport: { height: 947, width: 1903 },
        timestamp,
      },
    }
    yield `${JSON.stringify(event)}\n`
  }
}
