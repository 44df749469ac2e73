import { randomUUID } from 'node:crypto'
import type { TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storedTypes } from '../../../../schemas/events/index.ts'
import type { Row } from '../../../harness/api.ts'
import { waitFor } from '../../../harness/service.ts'
import { openTenant } from '../../../harness/sharedApp.ts'
import { type Headers, openTenants, type Tenants } from '../../../harness/tenants.ts'

/** The stored value of the column of events without a pixel. */
const noPixel = '00000000-0000-0000-0000-000000000000'

let tenants: Tenants
const campaigns = { first: '', second: '', foreign: '' }

beforeAll(async () => {
  tenants = await openTenants()
  for (const name of ['first', 'second', 'foreign'] as const) {
    campaigns[name] = await newCampaign(name)
  }
})
afterAll(() => tenants.close())

async function newCampaign(of: 'first' | 'second' | 'foreign'): Promise<string> {
  const json = { project_id: tenants[of].projectId, name: of, start_date: '2026-01-01' }
  const key = of === 'foreign' ? tenants.keys.foreign : tenants.keys.organization
  const { body } = await tenants.ask('/api/v1/campaigns', {}, key, { method: 'POST', json })
  return body.campaign.campaign_id
}

const impression = (more: Row = {}): Row => ({
  event_id: randomUUID(),
  event_type: 'impression',
  campaign_id: campaigns.first,
  ts: Date.now() - 1000,
  spend: 0.0025,
  ...more,
})
const deliver = (events: unknown, key?: Headers) =>
  tenants.ask('/api/v1/campaigns/events', {}, key, { method: 'POST', json: { events } })

/** The stored events of a campaign, once there are as many as expected. */
const stored = (campaignId: string, count: number): Promise<Row[]> =>
  waitFor(`${count} events`, async () => {
    const query = { campaign_id: campaignId, limit: '10000', start_time: '2026-01-01' }
    const { body } = await tenants.ask('/api/v3/events/web_event', query)
    return body.rows.length >= count ? body.rows : null
  })
const performance = async (campaignId: string) =>
  (await tenants.ask(`/api/v1/campaigns/${campaignId}/performance`)).body

describe('a delivery', () => {
  test('is read back as DSP events of the campaign, with what they cost', async () => {
    const campaign_id = await newCampaign('first')
    const known = {
      cookie_id: randomUUID(),
      client_ip: '81.2.69.142',
      page_url: 'https://news.example/a?b',
      user_agent:
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    }
    const shown = impression({ campaign_id, ...known })
    const clicked = impression({
      campaign_id,
      event_type: 'click',
      spend: 1.5,
      event_id: randomUUID().toUpperCase(),
      ts: new Date(Date.now() - 500).toISOString(),
    })
    const { status, body } = await deliver([shown, clicked])
    expect([status, body]).toEqual([200, { accepted: 2, rejected: [] }])

    const [second, first] = (await stored(campaign_id, 2)) as [Row, Row]
    expect(first).toMatchObject({
      event_id: shown.event_id,
      event_type: 'impression',
      ts_millis: shown.ts,
      source: 'svcdsp',
      campaign_id,
      spend: 0.0025,
      project_id: tenants.first.projectId,
      resolved: false,
      is_bot: false,
      // The country comes from the complete address, of which only the network is stored.
      ...known,
      client_ip: '81.2.69.0',
      page_host: 'news.example',
      page_path: '/a',
      browser: 'Chrome',
      device_type: 'desktop',
      country: 'GB',
    })
    expect(JSON.parse(String(first.event_data))).toEqual({
      url: known.page_url,
      campaign_id,
      spend: 0.0025,
      timestamp: new Date(Number(shown.ts)).toISOString(),
    })
    // Nothing is known of the browser: the event's visitor is nobody else's.
    expect(second).toMatchObject({
      event_id: String(clicked.event_id).toLowerCase(),
      cookie_id: String(clicked.event_id).toLowerCase(),
      event_type: 'click',
      spend: 1.5,
      is_bot: false,
    })
    expect(JSON.parse(String(second.event_data)).url).toBeNull()
    for (const row of [first, second]) {
      const event_data = JSON.parse(String(row.event_data))
      expect(storedTypes).toContainEqual({
        source: row.source,
        event_type: row.event_type,
        event_data: expect.toSatisfy((schema) => Check(schema as TSchema, event_data)),
      })
    }
  })

  test('has no pixel, in every format, group, filter and route', async () => {
    const campaign_id = await newCampaign('first')
    const shown = impression({ campaign_id })
    await deliver([shown])
    await stored(campaign_id, 1)
    const places = [
      { path: 'web_event', more: { select: 'pixel_id,source' } },
      { path: 'web_event', more: { select: 'pixel_id,source', distinct: 'pixel_id' } },
      { path: 'web_event', more: { select: 'pixel_id,source,session_id' } },
      { path: 'resolution_full_profile', more: { select: 'pixel_id,source,hem,first_name' } },
      { path: 'web_event', more: { select: 'pixel_id,source', filter: `pixel_id:ne:${noPixel}` } },
    ]
    for (const { path, more } of places) {
      const { body } = await tenants.ask(`/api/v3/events/${path}`, { campaign_id, ...more })
      expect([more, body.rows]).toMatchObject([more, [{ pixel_id: null, source: 'svcdsp' }]])
    }
    const ofPixel = { campaign_id, select: 'event_id', filter: `pixel_id:eq:${noPixel}` }
    expect((await tenants.ask('/api/v3/events/web_event', ofPixel)).body.rows).toEqual([])
    const csv = `/api/v3/events/web_event?campaign_id=${campaign_id}&select=source,pixel_id`
    const headers = { ...tenants.keys.organization, accept: 'text/csv' }
    const answer = await fetch(`${tenants.service.url}${csv}`, { headers })
    expect(await answer.text()).not.toContain(noPixel)
    const counts = { campaign_id, group_by: 'pixel_id,source' }
    expect((await tenants.ask('/api/v3/events/web_event/counts', counts)).body.counts).toEqual([
      { pixel_id: null, source: 'svcdsp', count: 1 },
    ])
    const project_id = tenants.first.projectId
    const trace = await tenants.ask(`/api/v1/events/${shown.event_id}/trace`, { project_id })
    expect(trace.body.stored).toMatchObject([{ pixel_id: null, source: 'svcdsp' }])
  })

  test.each([
    ['leaves out', {}],
    ['says with an empty text', { user_agent: '', client_ip: '', page_url: '' }],
  ])('what it %s is null, in every column', async (_how, unknown) => {
    const campaign_id = await newCampaign('first')
    await deliver([impression({ campaign_id, ...unknown })])
    const [row] = (await stored(campaign_id, 1)) as [Row]
    const nulls =
      'pixel_id,user_agent,client_ip,page_url,page_host,page_path,device_type,browser,country,language'
    expect(row).toMatchObject(Object.fromEntries(nulls.split(',').map((name) => [name, null])))
    expect(Object.entries(row).filter(([, value]) => value === '')).toEqual([])
    expect(row.is_bot).toBe(false)
  })

  test('sent again, whole or in part, is stored and counted once', async () => {
    const campaign_id = await newCampaign('first')
    const batch = Array.from({ length: 50 }, () => impression({ campaign_id }))
    await deliver(batch)
    await stored(campaign_id, 50)
    // Events on their way and stored ones, and the same twice in one batch.
    await deliver([...batch.slice(10), ...batch.slice(0, 20)])
    const last = impression({ campaign_id, event_type: 'click' })
    await Promise.all([deliver([last, last]), deliver([last])])
    expect(await stored(campaign_id, 51)).toHaveLength(51)
    expect((await performance(campaign_id)).metrics).toMatchObject({
      impressions: 50,
      clicks: 1,
      spend: 0.1275,
    })
  })

  test('of 10,000 events is taken, of one more is not', async () => {
    const campaign_id = await newCampaign('first')
    const batch = Array.from({ length: 10_000 }, (_, index) =>
      impression({
        campaign_id,
        event_type: index % 100 === 0 ? 'click' : 'impression',
        spend: 0.000001,
      }),
    )
    expect((await deliver(batch)).body).toEqual({ accepted: 10_000, rejected: [] })
    await waitFor(
      'all of them',
      async () => (await performance(campaign_id)).metrics.impressions === 9_900,
    )
    expect((await performance(campaign_id)).metrics).toMatchObject({ clicks: 100, spend: 0.01 })

    const { status, body } = await deliver([...batch, impression()])
    expect([status, body.parameter]).toEqual([400, 'events'])
  })

  test('a bad event costs only itself, and its place and fault are told', async () => {
    const campaign_id = await newCampaign('first')
    const day = 86_400_000
    const bad: [Row | unknown, string][] = [
      ['nothing', ''],
      [impression({ event_id: 'x' }), '/event_id'],
      [impression({ event_type: 'view' }), '/event_type'],
      [impression({ campaign_id: 'summer' }), '/campaign_id'],
      [impression({ ts: 'yesterday' }), '/ts'],
      [impression({ ts: Date.now() - 367 * day }), '/ts'],
      [impression({ ts: Date.now() + 120_000 }), '/ts'],
      [impression({ spend: -1 }), '/spend'],
      [impression({ spend: '1' }), '/spend'],
      [impression({ cookie_id: 'me' }), '/cookie_id'],
    ]
    const good = [impression({ campaign_id }), impression({ campaign_id })]
    const { status, body } = await deliver([good[0], ...bad.map(([event]) => event), good[1]])
    expect(status).toBe(200)
    expect(body.accepted).toBe(2)
    expect(body.rejected.map(({ index, path }: Row) => [index, path])).toEqual(
      bad.map(([, path], index) => [index + 1, path]),
    )
    for (const { message } of body.rejected) expect(message).toMatch(/\w/)
    expect(await stored(campaign_id, 2)).toHaveLength(2)
  })

  test('missing and unknown fields are told', async () => {
    const { spend: _, ...without } = impression()
    const { body } = await deliver([without, impression({ cost: 1 })])
    expect(body.accepted).toBe(0)
    expect(body.rejected).toHaveLength(2)
  })

  test('of a campaign that is somebody else’s, or of no one, is rejected alike', async () => {
    const others = [campaigns.foreign, randomUUID()]
    const { body } = await deliver(others.map((campaign_id) => impression({ campaign_id })))
    expect(body).toMatchObject({ accepted: 0 })
    for (const rejected of body.rejected) {
      expect(rejected).toMatchObject({ path: '/campaign_id', message: 'campaign not found' })
    }
  })

  test('with a project key is for that project’s campaigns only', async () => {
    const events = [
      impression({ campaign_id: campaigns.first }),
      impression({ campaign_id: campaigns.second }),
    ]
    const { body } = await deliver(events, tenants.keys.second)
    expect(body).toMatchObject({
      accepted: 1,
      rejected: [{ index: 0, message: 'campaign not found' }],
    })
  })

  test('takes a key and a body of events', async () => {
    for (const [events, parameter] of [
      [[], 'events'],
      ['all', 'events'],
      [undefined, 'events'],
    ]) {
      const { status, body } = await deliver(events)
      expect([status, body.parameter]).toEqual([400, parameter])
    }
  })

  test('is taken where beacons are, and only there', async () => {
    const event = impression({ campaign_id: await newCampaign('first') })
    const statusOf = async (role: string) => {
      const { service } = await openTenant({ env: { FOOTFALL_ROLE: role } })
      try {
        const answer = await fetch(`${service.url}/api/v1/campaigns/events`, {
          method: 'POST',
          body: JSON.stringify({ events: [event] }),
          headers: { ...tenants.keys.organization, 'content-type': 'application/json' },
        })
        return answer.status
      } finally {
        await service.stop()
      }
    }
    expect(await statusOf('ingest')).toBe(200)
    expect(await stored(String(event.campaign_id), 1)).toHaveLength(1)
    // There, `events` is the id of a campaign, to which nobody posts.
    expect(await statusOf('api')).toBe(405)
  })
})
