import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventOf, linkOf, openEvents, organizationId, type Row } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  // Profiles and links of the operator belong to no organization.
  events = await openEvents({ isAlone: true })
})
afterAll(() => events.close())

const now = Date.now()
const everybody = '00000000-0000-0000-0000-000000000000'
const [ann, bob, cid, dan] = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(64)) as [
  string,
  string,
  string,
  string,
]
const at = (daysAgo: number) => new Date(now - daysAgo * 86_400_000).toISOString()

let cookie: string
let event: Row
beforeEach(async () => {
  cookie = randomUUID()
  event = eventOf(now, 60_000, { cookie_id: cookie })
  await events.insert([event])
})

/** The person of the event's cookie, according to the API; a lookup of the cookie agrees. */
async function resolvedTo(more: Row = event) {
  const filter = `event_id:eq:${more.event_id}`
  const { rows } = await events.page({ filter, select: 'resolved,hem' }, {}, 'resolution_hem')
  const { hem, matched, links } = await linksOf(more)
  expect({ resolved: matched, hem }).toEqual(rows[0])
  expect(links.filter(({ counts }) => counts).map(({ hem }) => hem)).toEqual(matched ? [hem] : [])
  return rows[0]
}

interface CookieAnswer {
  matched: boolean
  hem: string | null
  links: { hem: string; counts: boolean; reason: string }[]
}

const linksOf = async ({ cookie_id }: Row): Promise<CookieAnswer> =>
  (await events.app.inject({ url: `/api/v1/lookup/cookie?cookie_id=${cookie_id}` })).json()

test('each link of a browser says why it counts or does not; of one never seen here nothing is told', async () => {
  const links = [
    linkOf(cookie, ann, { source: 'signed' }),
    linkOf(cookie, bob, { source: 'identify' }),
    linkOf(cookie, cid, { organization_id: everybody, source: 'loaded' }),
    linkOf(cookie, dan, { source: 'signed', confidence: 0.5 }),
  ]
  await events.know({ links })
  const told = await linksOf(event)
  expect(told).toMatchObject({ matched: true, hem: ann })
  expect(told.links.map(({ hem, reason }) => [hem, reason])).toEqual([
    [ann, expect.stringMatching(/^Used:/)],
    [dan, expect.stringMatching(/^Lower confidence/)],
    [cid, expect.stringMatching(/^After links that your site’s server signed/)],
    [bob, expect.stringMatching(/^After links that your site’s server signed/)],
  ])
  const unseen = randomUUID()
  await events.know({
    links: [linkOf(unseen, ann, { organization_id: everybody, source: 'loaded' })],
  })
  expect(await linksOf({ cookie_id: unseen })).toMatchObject({
    matched: false,
    hem: null,
    links: [],
  })
})

describe('of several links of a cookie', () => {
  test('the surest counts, whichever was seen last', async () => {
    await events.know({
      links: [
        linkOf(cookie, ann, { confidence: 0.5, source: 'form', observed_at: at(0) }),
        linkOf(cookie, bob, { confidence: 1, observed_at: at(9) }),
        linkOf(cookie, cid, { confidence: 0.9, source: 'form', observed_at: at(1) }),
      ],
    })
    expect(await resolvedTo()).toEqual({ resolved: true, hem: bob })
  })

  test('of equally sure ones the latest counts, in whatever order they came', async () => {
    await events.know({ links: [linkOf(cookie, bob, { observed_at: at(1) })] })
    await events.know({ links: [linkOf(cookie, ann, { observed_at: at(2) })] })
    expect(await resolvedTo()).toEqual({ resolved: true, hem: bob })
    await events.know({ links: [linkOf(cookie, ann, { observed_at: at(0) })] })
    expect(await resolvedTo()).toEqual({ resolved: true, hem: ann })
  })

  test('a link seen again is as sure as it was the last time', async () => {
    const link = linkOf(cookie, ann, { organization_id: everybody, source: 'loaded' })
    await events.know({ links: [{ ...link, confidence: 0.9, observed_at: at(2) }] })
    await events.know({ links: [{ ...link, hem: bob, confidence: 0.8, observed_at: at(1) }] })
    expect(await resolvedTo()).toEqual({ resolved: true, hem: ann })
    await events.know({ links: [{ ...link, confidence: 0.7, observed_at: at(0) }] })
    expect(await resolvedTo()).toEqual({ resolved: true, hem: bob })
  })

  describe('beside the operator’s graph, however sure that is', () => {
    const graph = {
      organization_id: everybody,
      source: 'loaded',
      confidence: 0.1,
      observed_at: at(60),
    }

    test.each(['identify', 'form'])(
      'what a page said without a signature (%s) counts for less',
      async (source) => {
        await events.know({ links: [linkOf(cookie, bob, { source })] })
        expect(await resolvedTo()).toEqual({ resolved: true, hem: bob })
        await events.know({ links: [linkOf(cookie, ann, graph)] })
        expect(await resolvedTo()).toEqual({ resolved: true, hem: ann })
        // Neither by saying it once more.
        await events.know({ links: [linkOf(cookie, dan, { source, observed_at: at(0) })] })
        expect(await resolvedTo()).toEqual({ resolved: true, hem: ann })
      },
    )

    test('what it said long ago, too: then it is in the large dictionary alone', async () => {
      await events.know({
        links: [linkOf(cookie, bob, { stored_at: at(30) }), linkOf(cookie, ann, graph)],
      })
      expect(await resolvedTo()).toEqual({ resolved: true, hem: ann })
    })

    test.each([
      ['signed', 0],
      ['signed', 30],
      ['loaded', 0],
    ])(
      'what was %s for the organization counts before it, %i days ago too',
      async (source, days) => {
        const own = { source, confidence: 0.1, stored_at: at(days), observed_at: at(days + 60) }
        await events.know({
          links: [
            linkOf(cookie, ann, { ...graph, confidence: 1 }),
            linkOf(cookie, bob, own),
            linkOf(cookie, dan, { confidence: 1, observed_at: at(0) }),
          ],
        })
        expect(await resolvedTo()).toEqual({ resolved: true, hem: bob })
      },
    )
  })
})

test('what another organization’s site observed is never seen', async () => {
  const foreign = randomUUID()
  const theirs = eventOf(now, 60_000, { organization_id: foreign, cookie_id: cookie })
  await events.insert([theirs])
  const profile = { hem: dan, first_name: 'Dan', company_domain: 'dan.example' }
  await events.know({
    links: [linkOf(cookie, dan, { organization_id: foreign })],
    profiles: [profile],
  })

  expect(await resolvedTo()).toEqual({ resolved: false, hem: null })
  const full = 'resolution_full_profile'
  for (const filter of [
    `hem:eq:${dan}`,
    'first_name:eq:Dan',
    `cookie_id:eq:${cookie},resolved:eq:true`,
  ]) {
    expect((await events.page({ filter }, {}, full)).rows).toEqual([])
  }
  const answers = await Promise.all(
    ['application/json', 'application/x-ndjson', 'text/csv'].map((accept) =>
      events.get(`events/${full}`, { filter: `cookie_id:eq:${cookie}` }, { accept }),
    ),
  )
  for (const { body } of answers) expect(body).not.toMatch(/Dan|dan\.example|d{64}/)
  const counts = { filter: `cookie_id:eq:${cookie}`, group_by: 'resolved' }
  expect((await events.get('events/web_event/counts', counts)).json().counts).toEqual([
    { resolved: false, count: 1 },
  ])
  // The organization that observed it sees it.
  const [seen] = await events.clickhouse.live.rows<Row>({
    sql: 'SELECT hem FROM events WHERE event_id = {id:UUID}',
    params: { id: theirs.event_id },
  })
  expect(seen).toEqual({ hem: dan })
  expect(foreign).not.toBe(organizationId)
})

test('without links, and after they were deleted, nobody is known', async () => {
  expect(await resolvedTo()).toEqual({ resolved: false, hem: null })
  await events.know({ links: [linkOf(cookie, ann)] })
  expect(await resolvedTo()).toEqual({ resolved: true, hem: ann })
  const deletion = {
    sql: 'DELETE FROM identity_links WHERE hem = {hem:String}',
    params: { hem: ann },
  }
  await events.clickhouse.live.command(deletion)
  await events.know({})
  expect(await resolvedTo()).toEqual({ resolved: false, hem: null })
})

describe('the dictionary of late links', () => {
  test('has what sites observed within the hour, so that the large one may be old', async () => {
    const reload = (dictionary: string) =>
      events.clickhouse.live.command({ sql: `SYSTEM RELOAD DICTIONARY ${dictionary}`, params: {} })
    await events.know({ links: [linkOf(cookie, ann, { observed_at: at(3) })] })
    const { live } = events.clickhouse
    await live.command({
      sql: `INSERT INTO identity_links (organization_id, cookie_id, hem, observed_at)
            VALUES ({organization:UUID}, {cookie:UUID}, {hem:String}, now64(3))`,
      params: { organization: organizationId, cookie, hem: bob },
    })
    expect(await resolvedTo()).toEqual({ resolved: true, hem: ann })
    await reload('identity_by_cookie_lately')
    expect(await resolvedTo()).toEqual({ resolved: true, hem: bob })
  })

  test('leaves out what was loaded and what is older', async () => {
    const old = randomUUID()
    const loaded = randomUUID()
    await events.know({
      links: [
        linkOf(old, ann, { stored_at: at(1) }),
        linkOf(loaded, ann, { organization_id: everybody, source: 'loaded' }),
      ],
    })
    const has = async (dictionary: string, organization: string, id: string) =>
      (
        await events.clickhouse.live.rows<{ found: number }>({
          sql: `SELECT dictHas('${dictionary}', ({organization:UUID}, {id:UUID})) AS found`,
          params: { organization, id },
        })
      )[0]!.found
    expect(await has('identity_by_cookie', organizationId, old)).toBe(1)
    expect(await has('identity_by_cookie', everybody, loaded)).toBe(1)
    expect(await has('identity_by_cookie_lately', organizationId, old)).toBe(0)
    expect(await has('identity_by_cookie_lately', everybody, loaded)).toBe(0)
  })
})

describe('a profile', () => {
  const nameOf = async () =>
    (
      await events.page(
        { filter: `event_id:eq:${event.event_id}`, select: 'first_name,pte_person_id' },
        {},
        'resolution_full_profile',
      )
    ).rows[0]

  test('loaded again replaces the one before, also after it was read', async () => {
    const hem = '1'.repeat(64)
    await events.know({ links: [linkOf(cookie, hem)] })
    expect(await nameOf()).toEqual({ first_name: null, pte_person_id: null })
    await events.know({
      profiles: [{ hem, first_name: 'Dora', pte_person_id: '7', updated_at: at(2) }],
    })
    expect(await nameOf()).toEqual({ first_name: 'Dora', pte_person_id: '7' })
    await events.know({ profiles: [{ hem, first_name: 'Dorothea', updated_at: at(1) }] })
    expect(await nameOf()).toEqual({ first_name: 'Dorothea', pte_person_id: null })
    // A late but older link changes nothing.
    await events.know({ profiles: [{ hem, first_name: 'Dolly', updated_at: at(5) }] })
    expect(await nameOf()).toEqual({ first_name: 'Dorothea', pte_person_id: null })
    const found = async (filter: string) =>
      (await events.page({ filter }, {}, 'resolution_full_profile')).rows
    expect(await found(`first_name:eq:Dorothea,event_id:eq:${event.event_id}`)).toHaveLength(1)
    expect(await found('first_name:eq:Dora')).toEqual([])
    expect(await found('first_name:eq:Dolly')).toEqual([])
  })

  test('is not taken for that of another hem with the same first eight bytes', async () => {
    const [one, other] = [
      `${'2'.repeat(16)}${'3'.repeat(48)}`,
      `${'2'.repeat(16)}${'4'.repeat(48)}`,
    ]
    await events.know({
      links: [linkOf(cookie, one)],
      profiles: [{ hem: other, first_name: 'Eve' }],
    })
    expect(await nameOf()).toEqual({ first_name: null, pte_person_id: null })
    const { rows } = await events.page(
      { filter: `event_id:eq:${event.event_id}` },
      {},
      'resolution_full_profile',
    )
    expect(rows[0]).toMatchObject({ hem: one, first_name: null })
  })

  test('is asked for only where its person is on the page, in whatever form', async () => {
    const people = Array.from({ length: 30 }, (_, n) => ({
      cookie: randomUUID(),
      hem: `${n + 10}`.padEnd(64, '6'),
    }))
    await events.insert(people.map(({ cookie }, n) => eventOf(now, n, { cookie_id: cookie })))
    const links = people.map(({ cookie, hem }) => linkOf(cookie, hem))
    const window = {
      start_time: new Date(now - 29).toISOString(),
      end_time: new Date(now + 1).toISOString(),
    }
    const remembered = async () =>
      (
        await events.clickhouse.live.rows<{ element_count: number }>({
          sql: `SELECT element_count FROM system.dictionaries
                WHERE database = currentDatabase() AND name = 'profile_by_hem'`,
          params: {},
        })
      )[0]!.element_count
    for (const [query, accept] of [
      [{}, 'application/json'],
      [{}, 'text/csv'],
      [{ select: 'first_name' }, 'application/json'],
      [{ order: 'asc', filter: 'resolved:eq:true' }, 'application/json'],
      [{ distinct: 'page_url,cookie_id' }, 'application/json'],
      [{ select: 'session_id,first_name' }, 'application/json'],
    ] as const) {
      await events.know({ links })
      const asked = { limit: '3', ...window, ...query }
      const { statusCode } = await events.get('events/resolution_full_profile', asked, { accept })
      // One row more than the page size.
      expect([statusCode, query, await remembered()]).toEqual([200, query, 4])
    }
  })

  test('keeps every sign of its texts', async () => {
    const hem = '5'.repeat(64)
    const first_name = 'a"b\\c\n{}\t,\u0001 é 😀 \u0024{_pte:Raw} </script>'
    await events.know({ links: [linkOf(cookie, hem)], profiles: [{ hem, first_name }] })
    expect(await nameOf()).toEqual({ first_name, pte_person_id: null })
    const filter = `event_id:eq:${event.event_id}`
    expect((await events.page({ filter }, {}, 'resolution_full_profile')).rows[0]).toMatchObject({
      first_name,
    })
    expect(
      (await events.page({ filter: `first_name:eq:${first_name}` }, {}, 'resolution_full_profile'))
        .rows,
    ).toHaveLength(1)
  })
})
