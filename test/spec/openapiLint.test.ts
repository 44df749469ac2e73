/** GET /openapi.json of a whole service, as tools that know nothing of us read it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answering } from '../harness/service.ts'
import { openTenant } from '../harness/sharedApp.ts'

interface OpenApi {
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}
interface Operation {
  operationId?: string
  summary?: string
  description?: string
  parameters?: {
    name: string
    description?: string
    example?: unknown
    schema?: { examples?: unknown[] }
  }[]
  security?: unknown
  requestBody?: { content: Record<string, { schema: unknown }> }
  responses: Record<string, { content?: Record<string, { schema: unknown }> }>
}

let service: Answering
let document: OpenApi
const operations = () => Object.values(document.paths).flatMap((path) => Object.values(path))
beforeAll(async () => {
  service = (await openTenant()).service
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApi
})
afterAll(() => service.stop())

test('every operation has an id of its own, as a method of a client is named', () => {
  const ids = operations().map(({ operationId }) => operationId)
  expect(ids.length).toBeGreaterThan(90)
  expect(ids.filter((id) => !/^[a-z][a-zA-Z0-9]{3,39}$/.test(id ?? ''))).toEqual([])
  expect(ids.filter((id, place) => ids.indexOf(id) !== place)).toEqual([])
})

test('every operation has a summary and a description, every parameter a description and an example', () => {
  const lacking = operations().flatMap(({ operationId, summary, description, parameters = [] }) => [
    ...(summary && description ? [] : [operationId]),
    ...parameters
      .filter(
        ({ description: said, example, schema }) =>
          !said || (example === undefined && !schema?.examples?.length),
      )
      .map(({ name }) => `${operationId} ${name}`),
  ])
  expect(lacking).toEqual([])
})

test('it says where the service is, and of every operation who may ask', () => {
  expect(document.servers).toEqual([{ url: service.url }])
  for (const { operationId, security } of operations()) {
    expect({ operationId, isSaid: Array.isArray(security) }).toEqual({ operationId, isSaid: true })
  }
  expect(document.tags.filter(({ description }) => !description)).toEqual([])
})

test('records have names, and stand there once', () => {
  expect(Object.keys(document.components.schemas)).toEqual(
    expect.arrayContaining([
      'Event',
      'EventWithHem',
      'EventWithPte',
      'EventWithFullProfile',
      'Visitor',
      'Profile',
      'Meta',
      'Error',
      'Company',
      'Organization',
      'Project',
      'Pixel',
      'PixelSettings',
      'Key',
      'Member',
      'ProjectMember',
      'Campaign',
      'CampaignMetrics',
      'Field',
      'Beacon',
      'BeaconReceipt',
      'WebEvent',
      'PageViewEvent',
    ]),
  )
  const page = document.paths['/api/v3/events/web_event']!.get!.responses['200']!.content!
  expect(Object.keys(page)).toEqual([
    'application/json',
    'application/x-ndjson',
    'text/csv',
    'application/vnd.apache.arrow.stream',
    'application/vnd.apache.parquet',
  ])
  expect(page['application/json']!.schema).toMatchObject({
    required: ['rows', 'meta'],
    properties: {
      rows: {
        items: {
          anyOf: [
            { $ref: '#/components/schemas/Event' },
            { $ref: '#/components/schemas/SelectedEvent' },
          ],
        },
      },
      meta: { $ref: '#/components/schemas/Meta' },
    },
  })
  const beacon = document.paths['/e']!.post!
  expect(beacon.requestBody!.content['text/plain']!.schema).toEqual({
    $ref: '#/components/schemas/Beacon',
  })
  expect(beacon.responses['200']!.content!['application/json']!.schema).toEqual({
    $ref: '#/components/schemas/BeaconReceipt',
  })
  const { Event } = document.components.schemas as Record<string, { required: string[] }>
  expect(Event!.required).toEqual(
    expect.arrayContaining(['event_id', 'event_type', 'ts_millis', 'event_data']),
  )
})
