import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { runEvery } from '../../collector/platform/runEvery.ts'
import type { Service } from '../harness/service.ts'
import { beaconText } from './beacons.ts'
import { load } from './load.ts'
import { readStore } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { untilQuiet, withService } from './service.ts'
import { longestStallMs, watchStalls, workerOf } from './stalls.ts'
import { median } from './stats.ts'

const pixels = 51_000
const beaconsPerSecond = 500
/** How long a change is apart from the next. */
const changeMs = 500

/** How long acknowledgements take while pixels change one by one, among many; alternately with none that change. */
export const pixelChanges = ({ repeats, seconds, connections, log }: Bench): Promise<Row> =>
  withService(async (service) => {
    const postgres = openPostgres(readStore(service).postgresUrl, () => {})
    try {
      log(`adding ${pixels} pixels`)
      await addPixels(postgres, service)
      await untilQuiet(service)
      const measure = async (who: string) => {
        await longestStallMs(workerOf(service))
        const { p50Ms, p99Ms } = await load({
          url: service.url,
          seconds,
          connections,
          rate: beaconsPerSecond,
          body: beaconText(service.demo.pixel_id, 1),
        })
        const stallMs = await longestStallMs(workerOf(service))
        log(`${who}: p50 ${p50Ms} ms, p99 ${p99Ms} ms, longest stall ${stallMs} ms`)
        await untilQuiet(service)
        return p99Ms
      }
      await measure('warming up')
      const atRest: number[] = []
      const changing: number[] = []
      for (let i = 0; i < repeats; i++) {
        atRest.push(await measure('no change'))
        const changes = runEvery(
          changeMs,
          () => changeOne(postgres, service),
          (error) => log(error.message),
        )
        changing.push(await measure('changes'))
        await changes.stop()
      }
      return {
        what: `ack p99 while one of ${pixels} pixels changes ÷ while none does`,
        value: (median(changing) / median(atRest)).toFixed(2),
        target: '≤ 1.5',
        detail: `${median(changing).toFixed(1)} ÷ ${median(atRest).toFixed(1)} ms at ${beaconsPerSecond} beacons/s`,
      }
    } finally {
      await postgres.end()
    }
  }, watchStalls)

/** Adds them in steps: PostgreSQL announces each. */
async function addPixels(postgres: Postgres, { demo }: Service): Promise<void> {
  const step = 1_000
  for (let added = 0; added < pixels; added += step)
    await postgres.query(
      `INSERT INTO pixels (pixel_id, project_id, name)
       SELECT gen_random_uuid(), $1, 'Pixel ' || n FROM generate_series($2::int, $3::int) AS n`,
      [demo.project_id, added + 1, added + step],
    )
}

async function changeOne(postgres: Postgres, { demo }: Service): Promise<void> {
  await postgres.query(
    "UPDATE pixels SET allowed_origins = ARRAY['https://' || gen_random_uuid()] WHERE pixel_id = (SELECT pixel_id FROM pixels WHERE pixel_id <> $1 LIMIT 1)",
    [demo.pixel_id],
  )
}
