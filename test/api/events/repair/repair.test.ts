/** Repairing data: events deleted by filter and window, and single identity links removed. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rebuildHits } from '../../../../collector/analytics/hits/rebuildHits.ts'
import { deleteWindows } from '../../../../collector/events/repair/windowDeletions.ts'
import { removeLinks } from '../../../../collector/identity/privacy/linkRemovals.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { storeOrganization, storeProject } from '../../../harness/owners.ts'
import { eventOf, linkOf, openEvents, organizationId, type Row } from '../harness.ts'

const path = '/api/v1/event-deletions'
const day = 86_400_000
/** Three days ago at noon. */
const noon = Math.floor(Date.now() / day - 3) * day + day / 2

let events: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  // Its jobs carry out all that the database has.
  events = await openEvents({})
  await storeOrganization(events.postgres, organizationId)
})
afterAll(() => events.close())

const ask = async (
  method: 'GET' | 'POST',
  url: string,
  payload?: object,
  headers: Record<string, string> = {},
) => {
  const answer = await events.app.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.json() }
}
async function openProject() {
  const project_id = randomUUID()
  await storeProject(events.postgres, project_id, organizationId)
  return project_id
}
const deps = () => ({ postgres: events.postgres, clickhouse: events.clickhouse.live })
/** Deletes until nothing is left. */
async function carryOut(work: typeof deleteWindows) {
  for (let tries = 0; tries < 100; tries++) {
    if (!(await work(deps()))) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('rows are left')
}
const idsOf = async (project_id: string) => {
  const { rows } = await events.page({
    project_id,
    start_ms: String(noon - 10 * day),
    end_ms: String(Date.now()),
    select: 'event_id',
    order: 'asc',
  })
  return rows.map(({ event_id }) => event_id)
}
const audits = async (action: string) =>
  (await events.postgres.query('SELECT details FROM audit_log WHERE action = $1', [action])).rows

describe('a deletion of events', () => {
  const at = (project_id: string, ms: number, more: Row = {}) =>
    eventOf(ms, 0, { project_id, ...more })

  test('deletes the confirmed events, and figures and counts follow', async () => {
    const [project_id, other] = [await openProject(), await openProject()]
    const [wrong, kept] = [
      [
        at(project_id, noon, { page_path: '/test', event_data: '{"properties":{"a":1}}' }),
        at(project_id, noon + 1, { page_path: '/test/2' }),
      ],
      [
        at(project_id, noon, { page_path: '/' }),
        at(project_id, noon + 10, { page_path: '/test' }),
        at(project_id, noon + 1, { page_path: '/test', source: 'svcdsp' }),
        at(other, noon, { page_path: '/test' }),
      ],
    ]
    await events.insert([...wrong, ...kept].map((row) => ({ ...row, page_url: undefined })))
    const window = { start_ms: noon, end_ms: noon + 10 }
    const span = `start_ms=${noon - day}&end_ms=${noon + 2 * day}`
    /** Figures and counts of a project. */
    const figures = async (project: string) => {
      const query = `project_id=${project}&${span}`
      const [overview, counts] = await Promise.all([
        ask('GET', `/api/v1/analytics/overview?${query}`),
        ask('GET', `/api/v3/events/web_event/counts?${query}&group_by=page_path`),
      ])
      const { meta: _, ...rest } = overview.body
      const { meta: _meta, ...counted } = counts.body
      return { rest, counted }
    }
    const twin = await openProject()
    const countHits = () => rebuildHits(events.clickhouse.live, [project_id, twin])
    await countHits()
    const before = await figures(project_id)
    const filter = 'page_path:like:/test%'
    const asked = { project_id, ...window, filter }
    const preview = await ask('POST', path, { ...asked, dry_run: true })
    expect(preview).toEqual({ status: 200, body: { dry_run: true, events: 2 } })
    expect(await idsOf(project_id)).toHaveLength(4)
    expect(await ask('POST', path, asked)).toMatchObject({
      status: 400,
      body: { parameter: 'events' },
    })
    expect(await ask('POST', path, { ...asked, events: 3 })).toMatchObject({
      status: 409,
      body: { code: 'count_changed', events: 2 },
    })
    const { status, body } = await ask('POST', path, { ...asked, events: 2 })
    expect({ status, body }).toMatchObject({
      status: 202,
      body: { event_deletion: { status: 'pending', events: 2, filter } },
    })
    // Events that arrive later stay, although they match.
    const late = at(project_id, noon + 2, {
      page_path: '/test',
      received_at: new Date(Date.now() + 1_000).toISOString(),
    })
    await events.insert([{ ...late, page_url: undefined }])
    await carryOut(deleteWindows)
    expect((await idsOf(project_id)).sort()).toEqual(
      [kept[0], kept[1], late].map((row) => row!.event_id).sort(),
    )
    expect(await idsOf(other)).toHaveLength(1)
    // A project that never had the wrong events has the same figures.
    await events.insert(
      [kept[0]!, kept[1]!, late].map((row) => ({
        ...row,
        page_url: undefined,
        project_id: twin,
        event_id: randomUUID(),
      })),
    )
    await countHits()
    expect(await figures(project_id)).not.toEqual(before)
    expect(await figures(project_id)).toEqual(await figures(twin))
    expect(await audits('events.delete')).toEqual([
      { details: expect.objectContaining({ filter, events: 2, start_ms: noon }) },
    ])
    const listed = async () =>
      (await ask('GET', `${path}?project_id=${project_id}`)).body.event_deletions
    expect(await listed()).toMatchObject([{ status: 'pending' }])
    await events.postgres.query(
      "UPDATE event_window_deletions SET requested_at = requested_at - interval '11 minutes'",
    )
    await carryOut(deleteWindows)
    expect(await listed()).toMatchObject([{ status: 'complete' }])
  })

  test('of one pixel leaves the events of the project’s other pixels', async () => {
    const project_id = await openProject()
    const [wrong, kept] = [randomUUID(), randomUUID()].map((pixel_id) =>
      at(project_id, noon, { pixel_id, page_url: undefined }),
    )
    await events.insert([wrong!, kept!])
    const asked = { project_id, pixel_id: wrong!.pixel_id, start_ms: noon, end_ms: noon + 1 }
    const preview = await ask('POST', path, { ...asked, dry_run: true })
    expect(preview).toEqual({ status: 200, body: { dry_run: true, events: 1 } })
    expect((await ask('POST', path, { ...asked, events: 1 })).status).toBe(202)
    await carryOut(deleteWindows)
    expect(await idsOf(project_id)).toEqual([kept!.event_id])
  })

  test.each([
    ['identity', 'resolved:eq:true'],
    ['a session', 'is_entry:eq:true'],
    ['a profile', 'first_name:eq:Ada'],
  ])('is refused with a filter by %s', async (_, filter) => {
    const project_id = await openProject()
    const body = { project_id, start_ms: 0, end_ms: 1, filter, dry_run: true }
    expect(await ask('POST', path, body)).toMatchObject({
      status: 400,
      body: { parameter: 'filter' },
    })
  })

  test('of another organization’s project is none', async () => {
    const project_id = await openProject()
    const body = { project_id, start_ms: 0, end_ms: 1, dry_run: true }
    const headers = { 'x-organization': randomUUID() }
    expect((await ask('POST', path, body, headers)).status).toBe(404)
  })
})

describe('the removal of a link', () => {
  const links = async (cookie_id: string) =>
    (
      await events.clickhouse.live.rows<{ hem: string; organization_id: string }>({
        sql: 'SELECT toString(hem) AS hem, organization_id FROM identity_links FINAL WHERE cookie_id = {cookie_id:UUID}',
        params: { cookie_id },
      })
    ).map(({ hem }) => hem)

  test('removes this link alone, until the person is observed again', async () => {
    const [cookie_id, elsewhere] = [randomUUID(), randomUUID()]
    const [wrong, right] = [hemOf('wrong@a.example'), hemOf('right@a.example')]
    const observed_at = new Date(Date.now() - 5_000).toISOString()
    const project_id = await openProject()
    await events.insert([eventOf(Date.now(), 1_000, { project_id, cookie_id })])
    await events.know({
      links: [
        linkOf(cookie_id, wrong, { observed_at }),
        linkOf(cookie_id, right, { observed_at, confidence: 0.5 }),
        linkOf(cookie_id, wrong, { observed_at, organization_id: randomUUID() }),
        linkOf(elsewhere, wrong, { observed_at }),
      ],
    })
    const hems = async () =>
      (await events.page({ project_id, select: 'hem' }, {}, 'resolution_hem')).rows
    expect(await hems()).toEqual([{ hem: wrong }])
    const url = '/api/v1/privacy/link-removals'
    const answer = await ask('POST', url, { cookie_id, email: 'wrong@a.example' })
    expect(answer).toMatchObject({ status: 202, body: { link_removal: { status: 'pending' } } })
    // The answer does not tell whether there was a link.
    const none = await ask('POST', url, { cookie_id: randomUUID(), email: 'wrong@a.example' })
    expect(Object.keys(none.body.link_removal)).toEqual(Object.keys(answer.body.link_removal))
    await carryOut(removeLinks)
    expect((await links(cookie_id)).sort()).toEqual([right, wrong].sort())
    expect(await links(elsewhere)).toEqual([wrong])
    expect(await hems()).toEqual([{ hem: right }])
    await events.know({
      links: [
        linkOf(cookie_id, wrong, { observed_at: new Date(Date.now() + 5_000).toISOString() }),
      ],
    })
    await carryOut(removeLinks)
    expect(await links(cookie_id)).toHaveLength(3)
    await events.postgres.query(
      "UPDATE link_removals SET requested_at = requested_at - interval '11 minutes'",
    )
    await carryOut(removeLinks)
    const { rows } = await events.postgres.query('SELECT cookie_id, hem FROM link_removals')
    expect(rows).toEqual([
      { cookie_id: null, hem: null },
      { cookie_id: null, hem: null },
    ])
    expect((await ask('GET', url)).body.link_removals).toMatchObject([
      { status: 'complete' },
      { status: 'complete' },
    ])
    expect(await audits('link_removal.create')).toHaveLength(2)
  })
})
