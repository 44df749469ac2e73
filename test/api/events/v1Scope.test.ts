import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EarlierEvents, openEarlierEvents } from './earlierHarness.ts'

let events: EarlierEvents
const inactivePixelId = randomUUID()
beforeAll(async () => {
  events = await openEarlierEvents()
  await events.postgres.query(
    `INSERT INTO pixels (pixel_id, project_id, name, active) VALUES ($1, $2, 'off', false)`,
    [inactivePixelId, events.first.projectId],
  )
})
afterAll(() => events.close())

describe('the scope', () => {
  const owners = async (query: Record<string, string>, key?: Record<string, string>) =>
    new Set(
      (await events.page({ limit: '1000', ...query }, key)).rows.map(
        ({ project_id }) => project_id,
      ),
    )

  test('organization_id reads every project, a deleted one that left its events included', async () => {
    const { organizationId, first, second } = events
    const { rows } = await events.page({ organization_id: organizationId, limit: '1000' })
    expect(rows).toHaveLength(60)
    expect(await owners({ organization_id: organizationId })).toEqual(
      new Set([first.projectId, second.projectId, events.deletedProjectId]),
    )
  })

  test('of several, pixel_id wins over project_id, which wins over organization_id', async () => {
    const { organizationId, first, second, foreign } = events
    const only = async (query: Record<string, string>) => [...(await owners(query))]
    expect(await only({ organization_id: organizationId, project_id: second.projectId })).toEqual([
      second.projectId,
    ])
    expect(await only({ project_id: second.projectId, pixel_id: first.pixelId })).toEqual([
      first.projectId,
    ])
    // What loses is as if it had not been given, whosever it is.
    expect(
      await only({ organization_id: foreign.organizationId, project_id: first.projectId }),
    ).toEqual([first.projectId])
    expect(await only({ project_id: foreign.projectId, pixel_id: first.pixelId })).toEqual([
      first.projectId,
    ])
  })

  test('X-Project-Id says the same as project_id', async () => {
    const key = { ...events.keys.organization, 'x-project-id': events.second.projectId }
    expect(await owners({ organization_id: events.organizationId }, key)).toEqual(
      new Set([events.second.projectId]),
    )
  })

  test('what is somebody else’s answers like what does not exist', async () => {
    const { foreign } = events
    const nobody = randomUUID()
    for (const [query, error] of [
      [{ organization_id: foreign.organizationId }, 'organization not found'],
      [{ organization_id: nobody }, 'organization not found'],
      [{ project_id: foreign.projectId }, 'project not found'],
      [{ project_id: nobody }, 'project not found'],
      [{ pixel_id: foreign.pixelId }, 'pixel not found'],
      [{ pixel_id: nobody }, 'pixel not found'],
      [{ ...events.scope, campaign_id: nobody }, 'campaign not found'],
      [{ ...events.scope, campaign_id: 'no uuid' }, 'campaign not found'],
    ] as const) {
      const { status, body } = await events.inWindow('/api/v1/events', query)
      expect([status, body.error]).toEqual([404, error])
    }
  })

  test('403 for a pixel that is switched off', async () => {
    const { status, body } = await events.inWindow('/api/v1/events', { pixel_id: inactivePixelId })
    expect([status, body.error]).toEqual([403, 'pixel inactive'])
  })

  test('a project key’s organization-scoped request reads only its project', async () => {
    const { organizationId, second, keys } = events
    for (const path of ['/api/v1/events', '/api/v1/event_counts']) {
      const { body } = await events.inWindow(path, { organization_id: organizationId }, keys.second)
      expect(body.total ?? body.rows.length).toBe(10)
    }
    expect(await owners({ organization_id: organizationId }, keys.second)).toEqual(
      new Set([second.projectId]),
    )
  })

  test('a project key gets 404 for another project and another project’s pixel', async () => {
    const { first, keys } = events
    for (const path of ['/api/v1/events', '/api/v1/event_counts']) {
      for (const [query, error] of [
        [{ project_id: first.projectId }, 'project not found'],
        [{ pixel_id: first.pixelId }, 'pixel not found'],
      ] as const) {
        const { status, body } = await events.inWindow(path, query, keys.second)
        expect([status, body.error]).toEqual([404, error])
      }
    }
  })
})
