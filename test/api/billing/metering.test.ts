import { randomUUID } from 'node:crypto'
import { tableFromIPC } from 'apache-arrow'
import fc from 'fast-check'
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formats } from '../../../collector/api/http/negotiateFormat.ts'
import {
  type Field,
  fieldNamed,
  fields,
  fieldsAt,
  hem,
  profileFields,
  tiers,
} from '../../../schemas/fields.ts'
import { randomRuns } from '../../harness/thorough.ts'
import {
  eventOf,
  linkOf,
  openEvents,
  organizationId,
  projectId,
  type Row,
} from '../events/harness.ts'

/*
 * Metering rules 4 to 7 as a separate model. For any request to any route, the ledger gains exactly the
 * delivered records, on the meter of the rules.
 */

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const hemOf = (n: number) => n.toString(16).padStart(2, '0').repeat(32)
const cookies = Array.from({ length: 6 }, () => randomUUID())

/** Of six browsers three are known, one of them by nothing but a hem; one person has no business e-mail. */
const profiles: Row[] = [
  {
    hem: hemOf(1),
    pte_person_id: 'one',
    first_name: 'Ada',
    company_domain: 'acme.example',
    business_email: 'ada@acme.example',
  },
  {
    hem: hemOf(2),
    pte_person_id: 'two',
    first_name: 'Ben',
    company_domain: 'acme.example',
    business_email: null,
    email: 'ben@gmail.com',
  },
  { hem: hemOf(4), pte_person_id: 'four', first_name: 'Dee', business_email: 'dee@other.example' },
]
const businessEmails = new Set([hemOf(1), hemOf(4)])

beforeAll(async () => {
  // Contact queries find the profiles of all organizations.
  events = await openEvents({ isAlone: true })
  await events.insert(
    Array.from({ length: 30 }, (_, n) =>
      eventOf(now, 1_000 + n * 1_000, {
        cookie_id: cookies[n % 6],
        event_type: n % 3 === 0 ? 'click' : 'page_view',
      }),
    ),
  )
  await events.know({
    links: [
      linkOf(cookies[0], hemOf(1)),
      linkOf(cookies[1], hemOf(2)),
      linkOf(cookies[2], hemOf(3)),
    ],
    profiles,
  })
  await events.clickhouse.live.command({
    sql: "INSERT INTO companies (company_domain, company_name) VALUES ('acme.example', 'Acme')",
    params: {},
  })
})
afterAll(() => events.close())

/** One request, and its answer by the rules: the number of delivered records, and their meter. */
interface Asked {
  method: 'GET' | 'POST'
  path: string
  query?: Record<string, string>
  body?: object
  accept?: string
  meter(answer: { body: string; rows: Row[] }): string
  records(answer: { body: string; rows: Row[] }): number
}

const window = { start_ms: String(now - 3_600_000), end_ms: String(now) }
const meterNames = ['events', 'resolution_hem', 'resolution_hem_pte', 'resolution_full_profile']
const rankOf = ({ tier }: Field) => tiers.indexOf(tier)
const meterOfHighest = (ranks: readonly number[]) => meterNames[Math.max(0, ...ranks)]!

const listOf = (of: readonly Field[]) =>
  fc.option(
    fc.uniqueArray(fc.constantFrom(...of), {
      minLength: 1,
      maxLength: 3,
      selector: ({ name }) => name,
    }),
    { nil: undefined },
  )
/** Filters that keep something, nothing, or what is known. */
const filters = [
  'resolved:eq:true',
  'resolved:eq:false',
  'event_type:eq:click',
  'event_type:eq:copy',
  `hem:eq:${hemOf(1)}`,
  `hem:ne:${hemOf(1)}`,
  'pte_person_id:eq:two',
  'first_name:like:%',
  'company_domain:eq:acme.example',
  'event_data.url:ne:x',
]
const fieldOf = (filter: string) => fieldNamed(filter.split(/[.:]/)[0]!)!
const chosenFilters = fc.subarray(filters, { maxLength: 2 })
const namesOf = (list: readonly Field[]) => list.map(({ name }) => name).join(',')
const isAt = (rank: number) => (field: Field) => rankOf(field) <= rank
const limit = fc.integer({ min: 1, max: 40 })
const accept = fc.constantFrom(...Object.values(formats))
const queryOf = (
  select?: readonly Field[],
  distinct?: readonly Field[],
  filter: readonly string[] = [],
) => ({
  ...(select && { select: namesOf(select) }),
  ...(distinct && { distinct: namesOf(distinct) }),
  ...(filter.length > 0 && { filter: filter.join(',') }),
})

/** Rules 5 and 6: the route sets the meter; each event is a record. */
const tierPage = (rank: number) => {
  const allowed = fieldsAt(tiers[rank]!)
  return fc
    .record({
      limit,
      accept,
      select: listOf(allowed),
      distinct: listOf(allowed),
      filter: chosenFilters,
    })
    .map(
      ({ limit, accept, select, distinct, filter }): Asked => ({
        method: 'GET',
        path: `/api/v3/events/${tiers[rank]}`,
        query: {
          ...window,
          limit: String(limit),
          ...queryOf(
            select,
            distinct,
            filter.filter((one) => isAt(rank)(fieldOf(one))),
          ),
        },
        accept,
        meter: () => meterNames[rank]!,
        records: ({ rows }) => rows.length,
      }),
    )
}

/** Rule 6: each visitor once a request, at the tier's price. */
const visitors = (rank: number) =>
  fc.record({ limit, accept, select: listOf(fieldsAt(tiers[rank]!)), accounts: fc.boolean() }).map(
    ({ limit, accept, select, accounts }): Asked => ({
      method: 'GET',
      path: `/api/v3/events/${tiers[rank]}/visitors`,
      query: {
        ...window,
        project_id: projectId,
        limit: String(limit),
        ...queryOf(select),
        ...(accounts && rank === 3 && { kind: 'accounts' }),
      },
      accept,
      meter: () => meterNames[rank]!,
      records: ({ rows }) => rows.length,
    }),
  )

/** Rule 6: the fields of select, filter and distinct set the meter; without select those returned do, too. */
const earlierPage = fc
  .record({
    version: fc.constantFrom('v1', 'v2'),
    limit,
    select: listOf(fields),
    distinct: listOf(fields),
    filter: chosenFilters,
  })
  .map(
    ({ version, limit, select, distinct, filter }): Asked => ({
      method: 'GET',
      path: `/api/${version}/events`,
      query: {
        ...window,
        organization_id: organizationId,
        limit: String(limit),
        ...queryOf(select, distinct, filter),
      },
      meter: ({ rows }) =>
        meterOfHighest([
          ...filter.map((one) => rankOf(fieldOf(one))),
          ...(select ?? []).map(rankOf),
          ...(distinct ?? []).map(rankOf),
          ...(select
            ? []
            : fields.filter(({ name }) => rows.some((row) => row[name] != null)).map(rankOf)),
        ]),
      records: ({ rows }) => rows.length,
    }),
  )

/** Rule 4: per record returned; misses and per-key errors are free. */
const person = fc.constantFrom(hemOf(1), hemOf(2), hemOf(3), hemOf(4), hemOf(9))
const lookup = fc
  .record({ hem: person, select: listOf([hem, ...profileFields].slice(1)), isPost: fc.boolean() })
  .map(({ hem, select, isPost }): Asked => {
    const asked = { hem, ...queryOf(select) }
    return {
      ...(isPost ? { method: 'POST', body: asked } : { method: 'GET', query: asked }),
      path: '/api/v1/lookup',
      meter: () => 'lookup',
      records: ({ body }) => (JSON.parse(body).person ? 1 : 0),
    }
  })
const batch = fc.array(fc.oneof(person, fc.constant('nobody')), { maxLength: 12 }).map(
  (hems): Asked => ({
    method: 'POST',
    path: '/api/v1/lookup/batch',
    body: { items: hems.map((hem) => ({ hem })) },
    meter: () => 'lookup',
    records: ({ body }) => JSON.parse(body).results.filter(({ person }: Row) => person).length,
  }),
)
const company = fc.constantFrom('acme.example', 'nobody.example').map(
  (domain): Asked => ({
    method: 'GET',
    path: '/api/v1/lookup/company',
    query: { domain },
    meter: () => 'lookup',
    records: ({ body }) => (JSON.parse(body).company ? 1 : 0),
  }),
)

/** Rule 4: of a contact query those with a business e-mail. */
const contact = fc
  .record({
    filter: fc.constantFrom(
      'first_name:like:%',
      'company_domain:eq:acme.example',
      'first_name:eq:Nobody',
    ),
    limit: fc.integer({ min: 1, max: 5 }),
  })
  .map(
    (body): Asked => ({
      method: 'POST',
      path: '/api/v1/contact/query',
      body,
      meter: () => 'contact',
      records: ({ body }) =>
        JSON.parse(body).results.filter(({ hem }: { hem: string }) => businessEmails.has(hem))
          .length,
    }),
  )

/** Rule 7: not billed. */
const free = fc
  .record({
    path: fc.constantFrom(
      '/api/v3/events/web_event/counts',
      '/api/v1/event_counts',
      '/api/v1/event_counts_index',
      '/api/v1/events/scan_estimate',
    ),
    filter: fc.constantFrom('resolved:eq:true', 'event_type:eq:click'),
  })
  .map(
    ({ path, filter }): Asked => ({
      method: 'GET',
      path,
      query: { ...window, filter, ...(path.includes('v1') && { organization_id: organizationId }) },
      meter: () => 'events',
      records: () => 0,
    }),
  )
const errors = fc.constantFrom<Asked>(
  ...[{ limit: '0' }, { select: 'nothing' }, { filter: 'hem:eq:x' }].map((query) => ({
    method: 'GET' as const,
    path: '/api/v3/events/web_event',
    query: query as unknown as Record<string, string>,
    meter: () => 'events',
    records: () => 0,
  })),
)

async function ledger(): Promise<Record<string, number>> {
  const { rows } = await events.postgres.query<{ meter: string; records: number }>(
    'SELECT meter, sum(records)::int AS records FROM ledger GROUP BY meter',
  )
  return Object.fromEntries(rows.map(({ meter, records }) => [meter, records]))
}

/** The rows of an answer, in whatever form they came; of CSV how many. */
async function rowsOf(bytes: Buffer, contentType: string): Promise<Row[]> {
  if (contentType === formats.arrow) return tableFromIPC(bytes).toArray()
  if (contentType === formats.parquet)
    return parquetReadObjects({ file: new Uint8Array(bytes).buffer })
  const body = bytes.toString()
  const lines = body.split('\n').slice(0, -1)
  // A row of CSV whose only value is null is an empty line.
  if (contentType.startsWith(formats.csv)) return lines.slice(1).map((line) => ({ line }))
  if (contentType.startsWith(formats.ndjson)) return lines.map((line) => JSON.parse(line))
  const { rows, visitors } = JSON.parse(body)
  return rows ?? visitors ?? []
}

/** Returns how many records were delivered. */
async function expectChargedAsDelivered(
  asked: Asked,
  headers: Record<string, string> = {},
): Promise<number> {
  const { method, path, query = {}, body, accept = formats.json } = asked
  const before = await ledger()
  const answer = await events.app.inject({
    method,
    url: `${path}?${new URLSearchParams(query)}`,
    headers: { accept, ...headers },
    ...(body && { payload: body }),
  })
  const after = await ledger()
  const added = Object.fromEntries(
    Object.entries(after)
      .map(([meter, records]) => [meter, records - (before[meter] ?? 0)] as const)
      .filter(([, records]) => records !== 0),
  )
  const isAnswered = answer.statusCode === 200
  const rows = isAnswered
    ? await rowsOf(answer.rawPayload, String(answer.headers['content-type']))
    : []
  const records = isAnswered ? asked.records({ body: answer.body, rows }) : 0
  const isTest = headers['x-test-mode'] === 'test'
  expect({ path, query, body, added }).toEqual({
    path,
    query,
    body,
    added: records === 0 || isTest ? {} : { [asked.meter({ body: answer.body, rows })]: records },
  })
  return records
}

const kinds: Record<string, fc.Arbitrary<Asked>> = {
  ...Object.fromEntries(tiers.map((tier, rank) => [`pages of ${tier}`, tierPage(rank)])),
  ...Object.fromEntries(
    tiers.slice(1).map((tier, index) => [`visitors of ${tier}`, visitors(index + 1)]),
  ),
  'pages of versions 1 and 2': earlierPage,
  lookups: lookup,
  batches: batch,
  'company lookups': company,
  'contact queries': contact,
}

test.each(Object.entries(kinds))(
  'what the ledger gains of %s is what was delivered, on the meter that the rules name',
  async (kind, requests) => {
    let withRecords = 0
    await fc.assert(
      fc.asyncProperty(requests, async (asked) => {
        if ((await expectChargedAsDelivered(asked)) > 0) withRecords++
      }),
      randomRuns(15, kind.includes('versions') ? 40 : 15),
    )
    expect(withRecords).toBeGreaterThan(0)
  },
  600_000,
)

test.each(Object.entries({ counts: free, errors }))(
  '%s are not billed',
  async (_, requests) => {
    await fc.assert(
      fc.asyncProperty(requests, async (asked) => {
        expect(await expectChargedAsDelivered(asked)).toBe(0)
      }),
      randomRuns(4, 10),
    )
  },
  600_000,
)

test('a test key is charged nothing, whatever it asks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(...Object.values(kinds)), async (asked) => {
      await expectChargedAsDelivered(asked, { 'x-test-mode': 'test' })
    }),
    randomRuns(8, 30),
  )
}, 600_000)

test.each([
  [{ select: 'cookie_id', filter: `hem:eq:${hemOf(1)}` }, 'resolution_hem'],
  [{ select: 'cookie_id', filter: 'pte_person_id:eq:one' }, 'resolution_hem_pte'],
  [{ select: 'cookie_id,hem', filter: 'first_name:eq:Ada' }, 'resolution_full_profile'],
  [{ select: 'event_id', distinct: 'company_domain' }, 'resolution_full_profile'],
  [{ select: 'event_id', filter: 'resolved:eq:true' }, 'events'],
  [{ filter: 'resolved:eq:false,first_name:ne:Ada' }, 'resolution_full_profile'],
])('of %j fields of filter and distinct count like selected ones: %s', async (query, meter) => {
  for (const version of ['v1', 'v2']) {
    const answer = await events.app.inject({
      url: `/api/${version}/events?${new URLSearchParams({ ...window, organization_id: organizationId, ...(query as Record<string, string>) })}`,
    })
    const { meta } = answer.json()
    expect(meta).toMatchObject({ meter })
    expect(meta.records).toBeGreaterThan(0)
    expect(meta.charged).toBe(meta.records)
  }
})
