import { afterAll, beforeAll, expect, test } from 'vitest'
import { fields, fieldsAt, publicField } from '../../../schemas/fields.ts'
import { openEvents, projectId } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  events = await openEvents()
})
afterAll(() => events.close())

test('the tier’s schema lists the fields of its rows, in their order', async () => {
  const { fields: shown } = (await events.get('events/web_event/schema')).json()
  expect(shown).toEqual(fieldsAt('web_event').map(publicField))
  expect(shown).toContainEqual(
    expect.objectContaining({ name: 'ts_millis', data_type: 'Int64', nullable: false }),
  )
})

test('events_schema lists every field, whatever the source', async () => {
  for (const query of [{}, { source: 'pixel' }, { source: 'svcdsp' }, { project_id: projectId }]) {
    expect((await events.get('events_schema', query)).json()).toEqual({ fields: fields.map(publicField) })
  }
})

test('OpenAPI describes every parameter of the routes', async () => {
  const { paths } = (await events.app.inject('/openapi.json')).json()
  const named = (path: string) =>
    paths[path].get.parameters
      .filter(({ in: where }: { in: string }) => where === 'query')
      .map(({ name }: { name: string }) => name)
  expect(named('/api/v3/events/web_event').sort()).toEqual(
    'campaign_id,cursor,distinct,end_ms,end_time,filter,limit,pixel_id,project_id,select,source,start_ms,start_time'.split(
      ',',
    ),
  )
  expect(named('/api/v3/events/web_event/counts')).toContain('group_by')
  expect(named('/api/v3/events_schema')).toEqual(['project_id', 'pixel_id', 'campaign_id', 'source'])
})
