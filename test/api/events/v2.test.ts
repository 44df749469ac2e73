import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Row } from '../../harness/api.ts'
import { openTenants, type Tenants } from '../../harness/tenants.ts'
import { eventOf } from './harness.ts'

let tenants: Tenants
const dayMs = 86_400_000
const hourMs = 3_600_000
// A midnight, far enough back that all of the next day has passed.
const midnight = (Math.floor(Date.now() / dayMs) - 2) * dayMs
const campaigns = {
  first: randomUUID(),
  again: randomUUID(),
  second: randomUUID(),
  foreign: randomUUID(),
}

/** Twelve impressions, two hours apart from midnight on, of each campaign. */
const stored: Record<keyof typeof campaigns, Row[]> = {
  first: [],
  again: [],
  second: [],
  foreign: [],
}
let page: Row

beforeAll(async () => {
  tenants = await openTenants()
  const { organizationId, first, second, foreign } = tenants
  const owners = {
    first: { organization_id: organizationId, project_id: first.projectId },
    again: { organization_id: organizationId, project_id: first.projectId },
    second: { organization_id: organizationId, project_id: second.projectId },
    foreign: { organization_id: foreign.organizationId, project_id: foreign.projectId },
  }
  for (const name of Object.keys(campaigns) as (keyof typeof campaigns)[]) {
    await tenants.postgres.query(
      `INSERT INTO campaigns (campaign_id, project_id, name, status, start_date)
       VALUES ($1, $2, $3, 'active', '2026-01-01')`,
      [campaigns[name], owners[name].project_id, name],
    )
    stored[name] = Array.from({ length: 12 }, (_, index) =>
      eventOf(midnight, -index * 2 * hourMs, {
        ...owners[name],
        source: 'svcdsp',
        campaign_id: campaigns[name],
        event_type: index % 3 === 0 ? 'click' : 'impression',
        spend: 0.0025,
      }),
    )
  }
  page = eventOf(midnight, -hourMs, { ...owners.first, pixel_id: first.pixelId })
  await tenants.insert([...Object.values(stored).flat(), page])
})
afterAll(() => tenants.close())

const times = (startMs: number, endMs: number) => ({
  start_time: new Date(startMs).toISOString(),
  end_time: new Date(endMs).toISOString(),
})
const wholeDay = times(midnight, midnight + dayMs)
const read = async (query: Record<string, string>, key?: Record<string, string>) => {
  const { status, body } = await tenants.ask('/api/v2/events', { ...wholeDay, ...query }, key)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as { rows: Row[]; meta: Row }
}
const ids = (rows: readonly Row[]) => new Set(rows.map(({ event_id }) => event_id))

describe('GET /api/v2/events', () => {
  test('source=svcdsp with campaign_id reads the campaign', async () => {
    const { rows, meta } = await read({ source: 'svcdsp', campaign_id: campaigns.first })
    expect(ids(rows)).toEqual(ids(stored.first))
    expect(rows[0]).toMatchObject({ source: 'svcdsp', campaign_id: campaigns.first, spend: 0.0025 })
    expect(meta).toMatchObject({ meter: 'events', records: 12, charged: 12, has_more: false })
    // The campaign alone says as much.
    expect(ids((await read({ campaign_id: campaigns.first })).rows)).toEqual(ids(stored.first))
  })

  test('source=svcdsp with project_id reads all campaigns of the project, and not its pixels', async () => {
    const { rows } = await read({ source: 'svcdsp', project_id: tenants.first.projectId })
    expect(ids(rows)).toEqual(ids([...stored.first, ...stored.again]))
  })

  test('without source, or with source=pixel, reads the pixels', async () => {
    for (const query of [{}, { source: 'pixel' }]) {
      const { rows } = await read({ ...query, project_id: tenants.first.projectId })
      expect(ids(rows)).toEqual(ids([page]))
    }
    const { rows } = await read({
      organization_id: tenants.organizationId,
      filter: 'source:like:%',
    })
    expect(rows).toHaveLength(37)
  })

  test('both bounds are inclusive', async () => {
    const [, second, third, fourth] = stored.first as [Row, Row, Row, Row]
    const between = async (query: Record<string, string>) =>
      ids(
        (await tenants.ask('/api/v2/events', { campaign_id: campaigns.first, ...query })).body.rows,
      )
    const [startMs, endMs] = [Number(second.ts_millis), Number(fourth.ts_millis)]
    expect(await between(times(startMs, endMs))).toEqual(ids([second, third, fourth]))
    expect(await between(times(startMs + 1, endMs - 1))).toEqual(ids([third]))
    expect(await between(times(startMs, startMs))).toEqual(ids([second]))
    expect(await between({ start_ms: String(startMs), end_ms: String(endMs) })).toEqual(
      ids([second, third, fourth]),
    )
    // Of a date the whole day belongs to the window.
    const date = new Date(midnight).toISOString().slice(0, 10)
    expect(await between({ start_time: date, end_time: date })).toEqual(ids(stored.first))
  })

  test('the window that was asked for is told', async () => {
    const { meta } = await read({ campaign_id: campaigns.first })
    expect(meta).toMatchObject({ start_ms: midnight, end_ms: midnight + dayMs })
  })

  test('the window may be as long as a campaign', async () => {
    const { rows } = await read({ campaign_id: campaigns.first, ...times(0, midnight + dayMs) })
    expect(rows).toHaveLength(12)
  })

  test('filter, select, distinct, offset and limit are those of version 1', async () => {
    const query = {
      campaign_id: campaigns.first,
      select: 'event_type',
      filter: 'event_type:eq:click',
    }
    expect((await read({ ...query, offset: '1', limit: '2' })).rows).toEqual([
      { event_type: 'click' },
      { event_type: 'click' },
    ])
    expect((await read({ ...query, distinct: 'event_type' })).rows).toEqual([
      { event_type: 'click' },
    ])
  })

  test.each([
    [{ limit: '1001' }, 'limit'],
    [{ offset: '-1' }, 'offset'],
    [{ source: 'dsp' }, 'source'],
    [{ campaign_id: '' }, 'campaign_id'],
    [{ start_time: wholeDay.end_time, end_time: wholeDay.start_time }, 'start_time'],
    [{ start_ms: '1' }, 'start_time'],
  ])('400 for %j names %s', async (query, parameter) => {
    const answer = await tenants.ask('/api/v2/events', {
      ...wholeDay,
      project_id: tenants.first.projectId,
      ...query,
    })
    expect([answer.status, answer.body.parameter]).toEqual([400, parameter])
  })

  test('400 without a scope, and without a window', async () => {
    const scope = { campaign_id: campaigns.first }
    expect((await tenants.ask('/api/v2/events', wholeDay)).body.parameter).toBe('organization_id')
    expect((await tenants.ask('/api/v2/events', scope)).body.parameter).toBe('start_ms')
    expect(
      (await tenants.ask('/api/v2/events', { ...scope, start_time: '2026-01-01' })).body.parameter,
    ).toBe('end_time')
  })
})

describe('a campaign', () => {
  test.each(['/api/v1/events', '/api/v1/event_counts', '/api/v2/events'])(
    'of somebody else answers 404 on %s, as one that does not exist',
    async (path) => {
      const window = { start_ms: String(midnight), end_ms: String(midnight + dayMs) }
      const ask = (campaignId: string, key?: Record<string, string>, query = {}) =>
        tenants.ask(path, { ...window, ...query, campaign_id: campaignId }, key)
      for (const answer of [
        await ask(campaigns.foreign),
        await ask(randomUUID()),
        await ask('summer'),
        await ask(campaigns.second, tenants.keys.first),
        await ask(campaigns.first, undefined, { project_id: tenants.second.projectId }),
      ]) {
        expect([answer.status, answer.body.error]).toEqual([404, 'campaign not found'])
      }
      expect((await ask(campaigns.second, tenants.keys.second)).status).toBe(200)
    },
  )

  test('is read by the tier route and counted, of the same source', async () => {
    const query = { ...wholeDay, campaign_id: campaigns.first }
    const rows = await tenants.ask('/api/v3/events/web_event', query)
    expect(ids(rows.body.rows)).toEqual(ids(stored.first.slice(0, 12)))
    const counts = await tenants.ask('/api/v3/events/web_event/counts', {
      ...query,
      group_by: 'event_type',
    })
    expect(counts.body.counts).toEqual([
      { event_type: 'impression', count: 8 },
      { event_type: 'click', count: 4 },
    ])
    const dsp = { ...wholeDay, source: 'svcdsp', project_id: tenants.second.projectId }
    expect(ids((await tenants.ask('/api/v3/events/web_event', dsp)).body.rows)).toEqual(
      ids(stored.second),
    )
    const foreign = { ...wholeDay, campaign_id: campaigns.foreign }
    const refused = await tenants.ask('/api/v3/events/web_event', foreign)
    expect([refused.status, refused.body.error]).toEqual([404, 'campaign not found'])
  })
})
