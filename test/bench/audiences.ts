import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAudience } from '../../collector/audiences/audiences.ts'
import { readIdentityState } from '../../collector/audiences/builder/buildInputs.ts'
import { buildNow } from '../../collector/audiences/builder/buildNow.ts'
import { dropMembers } from '../../collector/audiences/builder/memberStore.ts'
import { requestBuild } from '../../collector/audiences/builds.ts'
import { reloadIdentity } from '../../collector/identity/store/refresh.ts'
import type { Demo } from '../../collector/ops/demo/demo.ts'
import { startLocalClickHouse } from '../../collector/platform/clickhouse/local.ts'
import { migrateClickHouse } from '../../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { dayMs } from '../../collector/platform/days.ts'
import { startLocalPostgres } from '../../collector/platform/postgres/local.ts'
import { migratePostgres } from '../../collector/platform/postgres/migrate.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { inTransaction } from '../../collector/platform/postgres/transaction.ts'
import { hemAsNumber, hemNumber } from '../../schemas/fields.ts'
import { measureFiles, measurePages } from './audienceReads.ts'
import { makeEvents } from './events.ts'
import type { Store } from './pages.ts'
import { makePeople } from './people.ts'
import type { Bench, Row } from './rows.ts'
import { median } from './stats.ts'

const days = 30
const withinDays = 29
const seniorities = ['c_suite', 'vice_president', 'director']

const definition = {
  entity: 'people',
  include: {
    all: [
      {
        event: {
          event_type: 'page_view',
          filter: 'page_path:like:/p/1%',
          at_least: 2,
          within_days: withinDays,
        },
      },
      { profile: { field: 'job_seniority', op: 'in', value: seniorities } },
    ],
  },
  exclude: { event: { event_type: 'click', filter: 'page_path:eq:/p/7', within_days: withinDays } },
}

/** The same audience as one statement, as somebody would write it who keeps nothing for the next time. */
const byHand = `
  INSERT INTO audience_members (build_id, organization_id, key, hem_number, company_domain)
  SELECT {build:UUID}, {organization:UUID}, toInt64(rowNumberInAllBlocks() + 1), person, '' FROM (
    SELECT person FROM (
      SELECT ${hemNumber} AS person, viewed, clicked FROM (
        SELECT {organization:UUID} AS organization_id, cookie_id,
          countIf(event_type = 'page_view' AND page_path LIKE '/p/1%') AS viewed,
          countIf(event_type = 'click' AND page_path = '/p/7') AS clicked
        FROM events
        WHERE project_id = {project:UUID} AND source = 'pixel' AND ts_millis >= {from:Int64} AND ts_millis < {to:Int64}
          AND (event_type = 'page_view' AND page_path LIKE '/p/1%' OR event_type = 'click' AND page_path = '/p/7')
        GROUP BY cookie_id))
    WHERE person != 0 AND person IN (SELECT ${hemAsNumber('hem')} FROM profiles FINAL WHERE job_seniority IN {seniorities:Array(String)})
    GROUP BY person HAVING sum(viewed) >= 2 AND sum(clicked) = 0 ORDER BY person)`

/** Many people, for pages and files. */
const many = {
  entity: 'people',
  include: { profile: { field: 'job_seniority', op: 'in', value: seniorities } },
}

/**
 * First builds ÷ the same audience by one hand-written INSERT SELECT. Repeated builds without changes, and
 * with one percent more events of today, ÷ the first. Memory that builds add to this process. Pages and files
 * ÷ the time of ClickHouse. A statement of a build that took more than 1 GiB of ClickHouse's memory would
 * fail (builder/memberStore.ts).
 */
export async function audiences(bench: Bench): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-bench-audiences-'))
  const onRestart = (reason: string) => bench.log(reason)
  // Stores without a service: its jobs would build, too.
  const [clickhouse, postgres] = await Promise.all([
    startLocalClickHouse(join(directory, 'clickhouse'), onRestart),
    startLocalPostgres(join(directory, 'postgres'), onRestart),
  ])
  try {
    const store = { url: clickhouse.url, database: 'bench', postgresUrl: postgres.url }
    return await measure(bench, store, directory)
  } finally {
    await Promise.all([clickhouse.stop(), postgres.stop()])
    rmSync(directory, { recursive: true, force: true })
  }
}

async function measure(
  { sizes, repeats, log }: Bench,
  store: Store,
  directory: string,
): Promise<Row[]> {
  const demo = {
    organization_id: randomUUID(),
    project_id: randomUUID(),
    pixel_id: randomUUID(),
  } as Demo
  await migrateClickHouse(store.url, store.database)
  const clickhouse = openClickHouse(store.url, store.database)
  const postgres = openPostgres(store.postgresUrl, () => {})
  await migratePostgres(postgres)
  await postgres.query("INSERT INTO organizations (organization_id, name) VALUES ($1, 'Bench')", [
    demo.organization_id,
  ])
  await postgres.query(
    "INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, 'Bench')",
    [demo.project_id, demo.organization_id],
  )
  log(`making ${sizes.events} events and ${sizes.profiles} people`)
  const newestMs = Date.now() - 60_000
  const shape = { spanMs: (days - 1) * dayMs, cookie: `number % ${sizes.cookies}` }
  await makeEvents(store, demo, { ...shape, rows: sizes.events, newestMs })
  await makePeople(store, demo, sizes)
  const create = (of: object) =>
    inTransaction(postgres, (client) =>
      createAudience(client, demo.project_id, { name: 'Bench', definition: of }),
    )
  const audienceId = await create(definition)
  const build = async (
    id = audienceId,
  ): Promise<{ ms: number; count: number; buildId: string }> => {
    const buildId = await requestBuild(postgres, id)
    const startedAt = performance.now()
    const count = await buildNow(
      { postgres, clickhouse: { live: clickhouse, test: clickhouse } },
      buildId,
    )
    return { ms: performance.now() - startedAt, count: count!, buildId }
  }
  // As between two refreshes: the dictionaries were reloaded after the last link.
  const untilSettled = async () => {
    while ((await readIdentityState({ postgres, clickhouse })) === null)
      await reloadIdentity(clickhouse)
  }
  const write = async (): Promise<number> => {
    const now = Date.now()
    const buildId = randomUUID()
    const startedAt = performance.now()
    await clickhouse.command({
      sql: byHand,
      params: {
        build: buildId,
        organization: demo.organization_id,
        project: demo.project_id,
        seniorities,
        from: (Math.floor(now / dayMs) - withinDays) * dayMs,
        to: now,
      },
    })
    const ms = performance.now() - startedAt
    await dropMembers(clickhouse, buildId)
    return ms
  }
  const times: Record<'hand' | 'first' | 'again', number[]> = { hand: [], first: [], again: [] }
  let members = 0
  // Once before, so that files and code are in memory for all.
  await write()
  await build()
  await untilSettled()
  const rssBefore = process.memoryUsage().rss
  for (let repeat = 0; repeat < repeats; repeat++) {
    times.hand.push(await write())
    await postgres.query('DELETE FROM audience_leaf_days')
    await postgres.query('UPDATE audience_builds SET inputs = NULL')
    const first = await build()
    times.first.push(first.ms)
    times.again.push((await build()).ms)
    members = first.count
  }
  log('adding one percent')
  await makeEvents(store, demo, {
    ...shape,
    rows: Math.ceil(sizes.events / 100),
    newestMs,
    spanMs: 3_600_000,
  })
  await untilSettled()
  const { ms: moreMs } = await build()
  const grownMb = (process.memoryUsage().rss - rssBefore) / 1024 ** 2
  log('reading pages and files')
  const all = await create(many)
  const whole = await build(all)
  const built = { store, demo, postgres, clickhouse, audienceId: all, ...whole }
  const reads = [...(await measurePages(built)), ...(await measureFiles(built, directory, repeats))]
  await clickhouse.close()
  await postgres.end()
  const [hand, first, again] = [median(times.hand), median(times.first), median(times.again)]
  const ms = (value: number) => `${value.toFixed(0)} ms`
  const detail = `${sizes.events} events, ${sizes.profiles} profiles, ${members} members`
  return [
    {
      what: 'audience: first build ÷ one hand-written INSERT SELECT',
      value: (first / hand).toFixed(2),
      target: '≤ 1.5',
      detail: `${ms(first)} ÷ ${ms(hand)}; ${detail}`,
    },
    {
      what: 'audience: build with nothing new ÷ the first',
      value: (again / first).toFixed(2),
      target: '≤ 0.15',
      detail: `${ms(again)} ÷ ${ms(first)}`,
    },
    {
      what: 'audience: build with 1 % new events ÷ the first',
      value: (moreMs / first).toFixed(2),
      target: '≤ 0.25',
      detail: `${ms(moreMs)} ÷ ${ms(first)}`,
    },
    {
      what: 'audience: what builds add to the memory of this process',
      value: `${Math.max(0, grownMb).toFixed(0)} MB`,
      target: '≤ 64 MB',
      detail: `${2 * repeats + 1} builds`,
    },
    ...reads,
  ]
}
