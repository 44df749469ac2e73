/** The project of a request where its body names records of a project. `routes/` asks every route for every project. */
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { type Tenants, tenantsOfWorker, withKey } from './tenants.ts'

let service: Tenants
let callers: Record<'organization' | 'project', Record<string, string>>
beforeAll(async () => {
  service = await tenantsOfWorker()
  callers = { organization: withKey(service.ours.key), project: withKey(service.ours.firstKey) }
})

type Named = 'own' | 'other' | 'foreign'
const projectId = (named: Named): string =>
  ({
    own: service.ours.projects[0],
    other: service.ours.projects[1],
    foreign: service.theirs.projects[0],
  })[named]

test('a request finds no audience of another project for intent', async () => {
  const { audiences } = service.ours
  const find = (path: string, key: 'organization' | 'project', header: string) =>
    service.app.inject({
      method: 'POST',
      url: `/api/v1/intent/people${path}`,
      headers: { ...callers[key], 'x-project-id': header },
      payload: { topic: 'golf', audience_id: audiences[0] },
    })
  for (const path of ['', '/preview']) {
    for (const key of ['organization', 'project'] as const) {
      expect((await find(path, key, projectId('own'))).statusCode).toBe(200)
      for (const named of ['other', 'foreign'] as const) {
        const answer = await find(path, key, projectId(named))
        expect([answer.statusCode, answer.json().error]).toEqual([404, 'audience not found'])
      }
    }
  }
})

test('a request delivers events to campaigns of that project alone', async () => {
  const event = {
    event_id: randomUUID(),
    event_type: 'click',
    campaign_id: service.ours.campaigns[0],
    ts: Date.now(),
    spend: 0,
  }
  const deliver = async (named: Named) => {
    const headers = { ...callers.organization, 'x-project-id': projectId(named) }
    const url = '/api/v1/campaigns/events'
    return (
      await service.app.inject({ method: 'POST', url, headers, payload: { events: [event] } })
    ).json()
  }
  expect(await deliver('own')).toEqual({ accepted: 1, rejected: [] })
  expect(await deliver('other')).toMatchObject({
    accepted: 0,
    rejected: [{ code: 'campaign_not_found' }],
  })
})
