import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { findClickHouse, findPostgres, treeProcessorMs } from '../chaos/processes.ts'
import type { Service } from '../harness/service.ts'
import { untilCounted } from './counted.ts'
import { optimize } from './events.ts'
import { type Read, send } from './growth.ts'
import { insertGrowthEvents } from './growthEvents.ts'
import { readStore } from './pages.ts'
import {
  type Ask,
  comparedReferrer,
  type Figures,
  funnelPaths,
  limit,
  type Peer,
  type Question,
  questions,
  type Window,
} from './peer.ts'
import { openPlausible } from './peerPlausible.ts'
import { openRybbit } from './peerRybbit.ts'
import { openStaged } from './peersStaged.ts'
import { openUmami } from './peerUmami.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { median } from './stats.ts'

const dayMs = 86_400_000
const yearDays = 365
/** Days, of which the last is today. */
const windows = [30, yearDays]
/** Requests of each, after one that is not counted. */
const rounds = 5
/** Products whose answer takes longer are asked twice only. */
const slowMs = 20_000
/** Events of the last half hour, which are added before `live` is asked. */
const recent = { rows: 6_000, days: 30 / 1440 }
/** Figures that differ by more are reported. */
const agreement = 0.05

/**
 * Our API ÷ the SQL of Rybbit, Plausible and Umami, for the same questions about the same events of a year. Rybbit and
 * Plausible answer from tables of theirs in our ClickHouse, Umami from tables in our PostgreSQL. All of them take turns
 * in one run, and each is asked by one connection over HTTP, Umami by PostgreSQL's protocol. So ours includes the API,
 * and theirs does not. Files peer*.ts name the files and commits of their SQL. They contain statements of ours that are
 * equivalent to what these products generate, and none of their code. Every event is a row of each product, as it
 * stores them. Visitors are our cookies for all of them: Plausible itself counts a visitor again every day, and
 * Umami every month.
 */
export function peers({ peers: rows, log }: Bench): Promise<Row[]> {
  return withService(async (service) => {
    const store = readStore(service)
    const clickhouse = openClickHouse(store.url, store.database)
    const newestMs = Date.now()
    await clickhouse.command({ sql: 'TRUNCATE TABLE events', params: {} })
    const insert = (events: { rows: number; days: number; newestMs: number }) =>
      insertGrowthEvents(clickhouse, { ...placeOf(service), ...events }, log)
    await insert({ rows, days: yearDays, newestMs })
    await optimize(store, 'events')
    const staged = await openStaged(store)
    const [rybbit, lite] = await openRybbit(store)
    const plausible = await openPlausible(store)
    const umami = await openUmami(store, clickhouse)
    const all: Peer[] = [rybbit, lite, plausible, umami]
    const fillFrom = async (sinceMs: number) => {
      await staged.stage(sinceMs)
      for (const peer of all) {
        const startedAt = performance.now()
        await peer.fill()
        log(`${peer.name} is filled: ${Math.round((performance.now() - startedAt) / 1000)} s`)
      }
    }
    await fillFrom(0)
    await untilCounted(clickhouse, service)
    log('all events are counted')
    const found: Row[] = []
    const measure = async (question: Question, days: number, endMs: number) => {
      const window = { days, endMs, startMs: startOfDay(endMs) - (days - 1) * dayMs }
      const measured = await compare(service, all, question, window)
      for (const row of measured.map((one) => rowOf(one, rows, question, window))) {
        log(`${row.what}: ${row.value}; ${row.detail}`)
        found.push(row)
      }
    }
    for (const question of questions.filter((name) => name !== 'live'))
      for (const days of windows) await measure(question, days, newestMs)
    const nowMs = Date.now()
    await insert({ ...recent, newestMs: nowMs })
    await fillFrom(nowMs - recent.days * dayMs)
    await measure('live', 1, nowMs)
    await umami.close()
    await clickhouse.close()
    return found
  })
}

const startOfDay = (ms: number): number => Math.floor((ms - 1) / dayMs) * dayMs

const placeOf = ({ demo: { organization_id, project_id, pixel_id } }: Service) => ({
  organizationId: organization_id,
  projectId: project_id,
  pixelId: pixel_id,
})

/** Our own request for each question. */
const reads: Record<Question, Omit<Read, 'target'>> = {
  overview: { path: 'analytics/overview' },
  'top pages': {
    path: 'analytics/breakdown',
    query: { dimensions: 'page_path', limit: String(limit) },
  },
  sources: {
    path: 'analytics/breakdown',
    query: { dimensions: 'source', limit: String(limit) },
  },
  funnel: {
    path: 'analytics/funnel',
    body: {
      steps: [
        ...funnelPaths.map((path) => `event_type:eq:page_view,page_path:like:${path}%`),
        'event_type:eq:click',
      ],
    },
  },
  retention: { path: 'analytics/retention', query: { interval: 'week' } },
  live: { path: 'analytics/live', isLive: true },
}

interface Value {
  value: string | null
  visitors: number
  events: number
  page_views: number
  sessions: number | null
}

interface Breakdowns {
  breakdowns: Record<string, { values: Value[] }>
}

/** Reads the figures from our answers. */
const figuresOf: Record<Question, (answer: never) => Figures> = {
  overview: ({ overview }: { overview: Omit<Value, 'value'> }) => ({
    visitors: overview.visitors,
    'page views': overview.page_views,
    sessions: overview.sessions!,
  }),
  'top pages': ({ breakdowns }: Breakdowns) => {
    const { visitors, events, page_views } = breakdowns.page_path!.values[0]!
    return { visitors, events, 'page views': page_views }
  },
  sources: ({ breakdowns }: Breakdowns) => {
    const found = breakdowns.source!.values.find(({ value }) => value === comparedReferrer.source)
    return { visitors: found?.visitors ?? 0, sessions: found?.sessions ?? 0 }
  },
  funnel: ({ steps }: { steps: { visitors: number }[] }) =>
    Object.fromEntries(steps.map(({ visitors }, index) => [`step ${index + 1}`, visitors])),
  retention: ({ cohorts }: { cohorts: { returned: number[] }[] }) => {
    const sum = (later: number) =>
      cohorts.reduce((all, { returned }) => all + (returned[later] ?? 0), 0)
    return { visitors: sum(0), 'returned after a week': sum(1) }
  },
  live: ({ visitors_now }: { visitors_now: number }) => ({ visitors: visitors_now }),
}

/** What one side took and answered. */
interface Side {
  databasePid: number
  ms: number[]
  processorMs: number[]
  figures: Figures
  /** The message of the first request that failed; it is not asked again. */
  error?: string
}

interface Compared {
  peer: Peer
  ours: Side
  /** Null if the product does not have the report. */
  theirs: Side | null
}

/** Asks ours and every product in turns. The order of the turns alternates. */
async function compare(
  service: Service,
  all: readonly Peer[],
  question: Question,
  window: Window,
): Promise<Compared[]> {
  const askOurs: Ask = async () => {
    const answer = await send(service, reads[question], window.endMs, window.days)
    const body = await answer.text()
    if (!answer.ok) throw new Error(`${answer.status} ${body}`)
    return figuresOf[question](JSON.parse(body) as never)
  }
  const pid = service.process.pid!
  const [clickhousePid, postgresPid] = [findClickHouse(pid)!.pid, findPostgres(pid)!.pid]
  const newSide = (databasePid: number): Side => ({
    databasePid,
    ms: [],
    processorMs: [],
    figures: {},
  })
  const ours = newSide(clickhousePid)
  const turns = [{ ask: askOurs, side: ours }]
  const compared = all.map((peer): Compared => {
    const ask = peer.question(question, window)
    if (ask === null) return { peer, ours, theirs: null }
    const theirs = newSide(peer.database === 'ClickHouse' ? clickhousePid : postgresPid)
    turns.push({ ask, side: theirs })
    return { peer, ours, theirs }
  })
  for (let round = 0; round <= rounds; round++)
    for (const { ask, side } of round % 2 === 0 ? turns : turns.toReversed()) {
      const isSlow = side.ms.length > 0 && side.ms[0]! > slowMs
      if (side.error === undefined && !isSlow) await askOnce(side, ask, round > 0)
    }
  return compared
}

async function askOnce(side: Side, ask: Ask, counts: boolean): Promise<void> {
  const before = treeProcessorMs(side.databasePid)
  const startedAt = performance.now()
  try {
    side.figures = await ask()
    if (!Object.values(side.figures).every(Number.isFinite))
      throw new Error(`the answer has not all figures: ${JSON.stringify(side.figures)}`)
  } catch (error) {
    side.error = (error as Error).message.split('\n')[0]!.slice(0, 160)
    return
  }
  const ms = performance.now() - startedAt
  if (!counts && ms < slowMs) return
  side.ms.push(ms)
  side.processorMs.push(treeProcessorMs(side.databasePid) - before)
}

function rowOf(
  { peer, ours, theirs }: Compared,
  rows: number,
  question: Question,
  { days }: Window,
): Row {
  const span = question === 'live' ? '' : `, ${days} days`
  const what = `${rows / 1_000_000} M events: ${question}${span}, p50 of ours ÷ ${peer.name}`
  const target = '< 1'
  if (theirs === null)
    return { what, value: '-', target, detail: `${peer.name} has no such report` }
  const failed = [ours, theirs].find(({ error }) => error !== undefined)
  if (failed) {
    const detail = `${failed === ours ? 'ours' : peer.name} failed: ${failed.error}`
    return { what, value: '-', target, detail }
  }
  const time = (side: Side) => `${median(side.ms).toFixed(1)} ms`
  const cost = ({ processorMs }: Side) =>
    `${(processorMs.reduce((sum, ms) => sum + ms, 0) / processorMs.length).toFixed(0)} ms`
  const database = peer.database === 'ClickHouse' ? 'ClickHouse' : 'ClickHouse ÷ PostgreSQL'
  const definition = peer.definitions[question]
  return {
    what,
    value: (median(ours.ms) / median(theirs.ms)).toFixed(2),
    target,
    detail: [
      `${time(ours)} ÷ ${time(theirs)}, ${theirs.ms.length} requests each in turns`,
      `${database}: ${cost(ours)} ÷ ${cost(theirs)} of processor time`,
      agreementOf(ours.figures, theirs.figures),
      ...(definition ? [`its definition: ${definition}`] : []),
      peer.source,
    ].join('; '),
  }
}

/** Figures of both, and which of them differ. */
function agreementOf(ours: Figures, theirs: Figures): string {
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])]
  return names
    .map((name) => {
      const [our, their] = [ours[name], theirs[name]]
      if (our === undefined || their === undefined)
        return `${name} ${our === undefined ? `theirs ${their}` : `ours ${our}`}`
      const differs = Math.abs(our - their) > agreement * Math.max(our, their)
      return `${name} ${our} and ${their}${differs ? ' (differs)' : ''}`
    })
    .join(', ')
}
