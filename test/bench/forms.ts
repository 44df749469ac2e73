import { fieldsAt, isProfileField } from '../../schemas/fields.ts'
import { makeEvents } from './events.ts'
import { hourMs, pageRows, readStore } from './pages.ts'
import { makePeople } from './people.ts'
import { send } from './recorded.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { interleave } from './stats.ts'

const days = 30
const pagesPerRepeat = 5
const full = '/api/v3/events/resolution_full_profile'
const csv = 'text/csv'

/** The request, and the JSON page of the same events for comparison. */
interface Form {
  what: string
  path: string
  accept?: string
  query?: Record<string, string>
  beside?: string
}

const hundredFields = fieldsAt('resolution_full_profile').filter(isProfileField).slice(0, 100)
const forms: readonly Form[] = [
  { what: 'scan estimate', path: '/api/v1/events/scan_estimate' },
  { what: 'CSV of full profiles', path: full, accept: csv },
  {
    what: '100 selected profile fields',
    path: full,
    query: {
      select: ['event_id', 'ts_millis', ...hundredFields.map(({ name }) => name)].join(','),
    },
  },
  { what: 'CSV of visitors', path: `${full}/visitors`, accept: csv, beside: `${full}/visitors` },
  { what: 'version 1 without select', path: '/api/v1/events' },
  { what: 'version 2 without select', path: '/api/v2/events' },
]

/** Answers whose analysis, and not their data, took most of the time ÷ the JSON page of the same full profiles. */
export function formsOfPages({ repeats, sizes, log }: Bench): Promise<Row[]> {
  return withService(async (service) => {
    const store = readStore(service)
    const { project_id, api_key, api_secret } = service.demo
    const newestMs = Date.now()
    log(`making ${sizes.events} events, ${sizes.profiles} profiles`)
    await makeEvents(store, service.demo, {
      rows: sizes.events,
      newestMs,
      spanMs: days * 24 * hourMs,
      cookie: `cityHash64(number) % ${sizes.cookies}`,
    })
    await makePeople(store, service.demo, sizes)
    const window = { start_ms: String(newestMs - 24 * hourMs), end_ms: String(newestMs) }
    const ask = ({ path, accept = 'application/json', query }: Omit<Form, 'what'>) => {
      const asked = new URLSearchParams({
        project_id,
        ...window,
        limit: String(pageRows),
        ...query,
      })
      const headers = { accept, 'x-api-key': api_key, 'x-api-secret': api_secret }
      return send(new URL(`${path}?${asked}`, service.url), 'GET', headers)
    }
    const rows: Row[] = []
    for (const { what, beside = full, ...form } of forms) {
      log(`reading ${what}`)
      await Promise.all([ask(form), ask({ path: beside })])
      const { a, b, ratio } = await interleave(
        repeats * pagesPerRepeat,
        async () => (await ask(form)).ms,
        async () => (await ask({ path: beside })).ms,
      )
      rows.push({
        what: `${what} ÷ JSON page of the same full profiles, p50`,
        value: ratio.toFixed(2),
        target: '≤ 1.5',
        detail: `${a.toFixed(0)} ÷ ${b.toFixed(0)} ms, ${repeats * pagesPerRepeat} pairs of ${pageRows} rows`,
      })
    }
    return rows
  })
}
