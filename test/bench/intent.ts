import type { TopicPlan } from '../../collector/audiences/intent/topicPlan.ts'
import { topicQuery } from '../../collector/audiences/intent/topicQuery.ts'
import { reloadIdentity } from '../../collector/identity/store/refresh.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { dayMs } from '../../collector/platform/days.ts'
import type { Service } from '../harness/service.ts'
import { optimize } from './events.ts'
import { readStore, type Store } from './pages.ts'
import { record, replay, send } from './recorded.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { interleave, median } from './stats.ts'

const items = 10_000
const limit = 1_000
/** Signals lie on so many days before today. */
const days = 200
const companies = 20_000
/** So many signals a person has, about; every tenth signal is of a company. */
const signalsEach = 20
const signalsAtOnce = 1_000_000

/**
 * A batch of 10,000 addresses, people and companies by one and by five topics, each with the same SQL sent
 * directly to ClickHouse. Also figures by day. With `--signals` signals.
 */
export function intent({ repeats, signals, log }: Bench): Promise<Row[]> {
  return withService(async (service) => {
    const store = readStore(service)
    const people = Math.max(items, Math.ceil(signals / signalsEach))
    log(`making ${people} people and ${signals} signals`)
    await makeSignals(store, signals, people)
    const topics = await readTopicIds(store)
    const detail = `${signals} signals of ${people} people`
    log('measuring the batch')
    const rows = [await measureBatch(service, people, repeats, detail)]
    for (const entity of ['people', 'companies'] as const) {
      for (const count of [1, 5]) {
        log(`measuring ${entity} by ${count}`)
        rows.push(
          await measurePage(service, store, {
            entity,
            topics: topics.slice(0, count),
            repeats,
            detail,
          }),
        )
      }
    }
    log('measuring figures by day')
    for (const name of ['intent-daily-stats', 'intent-daily-per-topic-stats']) {
      rows.push(await measureStats(service, name, repeats, detail))
    }
    return rows
  })
}

async function makeSignals(
  { url, database }: Store,
  signals: number,
  people: number,
): Promise<void> {
  const clickhouse = openClickHouse(url, database)
  const run = (sql: string, params: Record<string, unknown> = {}) =>
    clickhouse.command({ sql, params })
  await run(
    // Every tenth profile shares its person with another.
    `INSERT INTO profiles (hem, pte_person_id, company_domain, job_seniority, updated_at)
     SELECT lower(hex(SHA256(concat('p', toString(number), '@bench.example')))),
       concat('p', toString(if(number % 10 = 0, intDiv(number, 20), number))),
       concat('c', toString(cityHash64(number) % ${companies}), '.example'), 'director', now64(3)
     FROM numbers({people:UInt64})`,
    { people },
  )
  for (let from = 0; from < signals; from += signalsAtOnce) {
    await run(
      `INSERT INTO intent_signals (topic, date, hem_number, company_domain, source, score)
       WITH (SELECT groupArray(topic) FROM (SELECT topic FROM intent_topics FINAL ORDER BY topic)) AS topics
       SELECT topics[cityHash64(number, 1) % length(topics) + 1], today() - cityHash64(number, 2) % ${days},
         if(number % 10 = 0, 0, reinterpretAsUInt256(SHA256(concat('p', toString(cityHash64(number, 3) % {people:UInt64}), '@bench.example')))),
         if(number % 10 = 0, concat('c', toString(cityHash64(number, 4) % ${companies}), '.example'), ''),
         'bench', cityHash64(number, 5) % 101
       FROM numbers({from:UInt64}, {count:UInt64})`,
      { from, count: Math.min(signalsAtOnce, signals - from), people },
    )
  }
  for (const table of ['profiles', 'profile_rows', 'intent_signals', 'intent_signals_by_person'])
    await optimize({ url, database }, table)
  await reloadIdentity(clickhouse)
  await clickhouse.close()
}

async function readTopicIds({ url, database }: Store): Promise<string[]> {
  const clickhouse = openClickHouse(url, database)
  const rows = await clickhouse.rows<{ topic: string }>({
    sql: 'SELECT topic FROM intent_topics FINAL ORDER BY topic LIMIT 5',
    params: {},
  })
  await clickhouse.close()
  return rows.map(({ topic }) => topic)
}

const headersOf = ({ demo }: Service) => ({
  'x-api-key': demo.api_key,
  'x-api-secret': demo.api_secret,
  'content-type': 'application/json',
})

const post = (service: Service, path: string, body: object) =>
  send(new URL(`/api/v1/intent/${path}`, service.url), 'POST', headersOf(service), [
    Buffer.from(JSON.stringify(body)),
  ])

async function measureBatch(
  service: Service,
  people: number,
  repeats: number,
  detail: string,
): Promise<Row> {
  const times: number[] = []
  let share = 0
  for (let n = 0; n < repeats + 1; n++) {
    const asked = Array.from({ length: items }, (_, index) => ({
      id: String(index),
      email: `p${(index * 97 + n * 31) % people}@bench.example`,
    }))
    const answer = await post(service, 'batch', { items: asked })
    const { matched } = JSON.parse(answer.body.toString()) as { matched: number }
    if (matched === 0) throw new Error('nobody matched')
    share = matched / items
    if (n > 0) times.push(answer.ms)
  }
  return {
    what: `intent: batch of ${items} addresses, p50`,
    value: `${median(times).toFixed(0)} ms`,
    target: '≤ 1500 ms',
    detail: `${(share * 100).toFixed(0)} % matched; ${detail}`,
  }
}

interface Page {
  entity: 'people' | 'companies'
  topics: string[]
  repeats: number
  detail: string
}

/** A page of 1,000 through the API ÷ its SQL alone. */
async function measurePage(
  service: Service,
  store: Store,
  { entity, topics, repeats, detail }: Page,
): Promise<Row> {
  const isMulti = topics.length > 1
  const path = `${entity}${isMulti ? '/multi' : ''}`
  const select = entity === 'people' ? 'hem' : 'company_domain'
  const body = { ...(isMulti ? { topics } : { topic: topics[0] }), limit, select }
  const { organization_id: organizationId } = service.demo
  const plan: TopicPlan = {
    organizationId,
    entity,
    topics,
    match: 'any',
    minScore: 0,
    filters: [],
    buildId: null,
    namesFew: false,
    limit,
    after: null,
    windowDays: 30,
    erased: [],
    today: Math.floor(Date.now() / dayMs),
  }
  const recorded = await record(store.url, store.database, (clickhouse) =>
    clickhouse.stream(topicQuery(plan), 'JSONEachRow'),
  )
  let records = 0
  const api = async () => {
    const answer = await post(service, path, body)
    records = (JSON.parse(answer.body.toString()) as { count: number }).count
    return answer.ms
  }
  const raw = async () => (await replay(store.url, recorded)).ms
  await api()
  await raw()
  const { a, b, ratio } = await interleave(repeats * 3, api, raw)
  return {
    what: `intent: ${entity} by ${topics.length === 1 ? 'one topic' : `${topics.length} topics`} ÷ the same SQL raw`,
    value: ratio.toFixed(2),
    target: '≤ 1.3',
    detail: `${a.toFixed(0)} ms ÷ ${b.toFixed(0)} ms; ${records} records; ${detail}`,
  }
}

async function measureStats(
  service: Service,
  name: string,
  repeats: number,
  detail: string,
): Promise<Row> {
  const times: number[] = []
  let rows = 0
  for (let n = 0; n < repeats; n++) {
    const answer = await send(
      new URL(`/api/v1/stats/tables/${name}`, service.url),
      'GET',
      headersOf(service),
    )
    rows = (JSON.parse(answer.body.toString()) as { rows: unknown[] }).rows.length
    times.push(answer.ms)
  }
  return {
    what: `intent: ${name} of 30 days, p50`,
    value: `${median(times).toFixed(0)} ms`,
    target: '≤ 5000 ms',
    detail: `${rows} rows; ${detail}`,
  }
}
