import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventTypes } from '../../../schemas/events/index.ts'
import { fields, publicField, selectableAt } from '../../../schemas/fields.ts'
import { openEvents, projectId, type Row } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  events = await openEvents()
})
afterAll(() => events.close())

test('the tier’s schema lists the fields of its rows, in their order', async () => {
  const { fields: shown } = (await events.get('events/web_event/schema')).json()
  expect(shown).toEqual(selectableAt('web_event').map(publicField))
  expect(shown).toContainEqual(
    expect.objectContaining({ name: 'ts_millis', data_type: 'Int64', nullable: false }),
  )
})

test('events_schema lists every field, whatever the source', async () => {
  for (const query of [{}, { source: 'pixel' }, { source: 'svcdsp' }, { project_id: projectId }]) {
    const { fields: shown } = (await events.get('events_schema', query)).json()
    expect(shown).toEqual(fields.map(publicField))
  }
})

test.each(['/api/v3/events_schema', '/api/v3/events/web_event/schema', '/api/v1/events_schema'])(
  '%s says what events of each source are and hold',
  async (path) => {
    const typesOf = async (source?: string) => {
      const answer = await events.app.inject({ url: path, query: source ? { source } : {} })
      return answer.json().event_types as { source: string; event_type: string; event_data: Row }[]
    }
    const names = (types: { event_type: string }[]) => types.map(({ event_type }) => event_type)
    const ofPixels = await typesOf('pixel')
    expect(names(ofPixels)).toEqual(eventTypes)
    const ofCampaigns = await typesOf('svcdsp')
    expect(names(ofCampaigns)).toEqual(['impression', 'click'])
    expect(await typesOf()).toEqual([...ofPixels, ...ofCampaigns])
    const membersOf = ({ event_data }: { event_data: Row }) =>
      Object.keys(event_data.properties as Row)
    expect(membersOf(ofPixels[1]!)).toContain('element')
    for (const type of ofCampaigns)
      expect(membersOf(type)).toEqual(['url', 'campaign_id', 'spend', 'timestamp'])
  },
)

test('OpenAPI describes every parameter of the routes', async () => {
  const { paths } = (await events.app.inject('/openapi.json')).json()
  const named = (path: string) =>
    paths[path].get.parameters
      .filter(({ in: where }: { in: string }) => where === 'query')
      .map(({ name }: { name: string }) => name)
  expect(named('/api/v3/events/web_event').sort()).toEqual(
    'campaign_id,csv_formulas,cursor,distinct,end_ms,end_time,filter,limit,order,pixel_id,project_id,select,source,start_ms,start_time'.split(
      ',',
    ),
  )
  expect(named('/api/v3/events/web_event/counts')).toContain('group_by')
  expect(named('/api/v3/events_schema')).toEqual([
    'project_id',
    'pixel_id',
    'campaign_id',
    'source',
  ])
})
