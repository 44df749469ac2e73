/** The examples of /docs are what the service answers, with sample data; `RECORD=1` writes them anew, for `npm run format` to finish. */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import Ajv2020 from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Document, publicOperations } from '../../collector/api/openapi/document.ts'
import { type Example, examplesFile, readExamples } from '../../collector/api/openapi/examples.ts'
import { resolveRefs } from '../harness/openapi.ts'
import { samples } from './samples.ts'
import type { Tenant } from './tenant.ts'
import { openTenants, withKey } from './tenants.ts'

let service: Awaited<ReturnType<typeof openTenants>>
let document: Document
beforeAll(async () => {
  service = await openTenants()
  document = resolveRefs((await service.app.inject('/openapi.json')).json())
})
afterAll(() => service.close())

type Asked = Pick<Example, 'params' | 'query' | 'body'>

const select = 'timestamp,event_type,page_path,event_data'
const identity = 'timestamp,event_type,hem,first_name,last_name,job_title,company_name'
const day = 86_400_000
const window = {
  start_ms: String(Math.floor(Date.now() / day) * day - day),
  end_ms: String(Math.floor(Date.now() / day) * day),
}

/** How operations are asked with a test key, whose organization has the sample data. */
const readsOf = (
  project: string,
  campaign: string,
  pixel: string,
  hem: string,
): Record<string, Asked> => ({
  'GET /api/v3/events/web_event': { query: { filter: 'event_type:eq:click', select, limit: '2' } },
  'GET /api/v3/events/resolution_hem': {
    query: { filter: 'resolved:eq:true', select: `${select},hem`, limit: '1' },
  },
  'GET /api/v3/events/resolution_hem_pte': {
    query: { filter: 'resolved:eq:true', select: `${select},hem,pte_person_id`, limit: '1' },
  },
  'GET /api/v3/events/resolution_full_profile': {
    query: { filter: 'has_profile:eq:true', select: identity, limit: '2' },
  },
  ...Object.fromEntries(
    ['resolution_hem', 'resolution_hem_pte', 'resolution_full_profile'].map((tier) => [
      `GET /api/v3/events/${tier}/visitors`,
      { query: { project_id: project, ...window, select: 'hem,timestamp,page_path', limit: '2' } },
    ]),
  ),
  'GET /api/v3/events/web_event/counts': { query: { group_by: 'event_type' } },
  'GET /api/v1/events': { query: { project_id: project, ...window, select, limit: '1' } },
  'GET /api/v2/events': { query: { project_id: project, ...window, select, limit: '1' } },
  'GET /api/v1/events/scan_estimate': { query: { project_id: project, ...window } },
  'GET /api/v1/events/{event_id}/trace': {
    params: { event_id: '00000000-0000-4000-8000-000000000000' },
  },
  'GET /api/v1/event_counts': { query: { project_id: project, ...window } },
  'GET /api/v1/lookup': { query: { hem, select: 'first_name,last_name,job_title,company_name' } },
  'POST /api/v1/lookup': { body: { hem, select: 'first_name,last_name,job_title,company_name' } },
  'POST /api/v1/lookup/batch': {
    body: {
      items: [
        { id: 'a', hem },
        { id: 'b', email: 'nobody@nowhere.example' },
      ],
      select: 'first_name,company_name',
    },
  },
  'GET /api/v1/lookup/company': { query: { domain: 'nowhere.example' } },
  'POST /api/v1/contact/query': {
    body: {
      filter: 'job_title:like:Director%',
      select: 'first_name,job_title,company_name',
      limit: 2,
    },
  },
  'GET /api/v1/resolution/statistics': { query: { project_id: project } },
  'GET /api/v1/analytics/overview': {
    query: { project_id: project, ...window, compare: 'previous' },
  },
  'GET /api/v1/analytics/timeseries': {
    query: { project_id: project, ...window, interval: 'day' },
  },
  'GET /api/v1/analytics/breakdown': {
    query: { project_id: project, ...window, dimensions: 'page_path,country', limit: '3' },
  },
  'GET /api/v1/analytics/live': { query: { project_id: project } },
  'POST /api/v1/analytics/funnel': {
    body: {
      project_id: project,
      start_ms: Number(window.start_ms),
      end_ms: Number(window.end_ms),
      steps: ['event_type:eq:page_view', 'event_type:eq:search'],
    },
  },
  'POST /api/v1/analytics/visitors': {
    body: {
      project_id: project,
      start_ms: Number(window.start_ms),
      end_ms: Number(window.end_ms),
      steps: ['event_type:eq:page_view', 'event_type:eq:search'],
      outcome: 'reached',
      limit: 2,
    },
  },
  'GET /api/v1/analytics/retention': { query: { project_id: project, ...window, interval: 'day' } },
  'GET /api/v1/analytics/journeys': {
    query: { project_id: project, ...window, steps: '1', pages: '2' },
  },
  'GET /api/v1/field-catalog': { query: { tier: 'resolution_hem', group: 'identity' } },
  'GET /api/v1/field-catalog/{name}': { params: { name: 'hem' } },
  'GET /api/v1/taxonomy/{name}': { params: { name: 'seniorities' } },
  'GET /api/v1/project/retrieve/{project_id}': { params: { project_id: project } },
  'GET /api/v1/pixel/list': { query: { project_id: project } },
  'GET /api/v1/pixel/retrieve/{pixel_id}': { params: { pixel_id: pixel } },
  'GET /api/v1/campaigns': { query: { limit: '1' } },
  ...Object.fromEntries(
    ['', '/performance', '/budget-status'].map((of) => [
      `GET /api/v1/campaigns/{campaign_id}${of}`,
      { params: { campaign_id: campaign } },
    ]),
  ),
  ...Object.fromEntries(
    [
      'taxonomy',
      'whoami',
      'organization',
      'organization/user/list',
      'project/list',
      'billing/limits',
      'billing/usage',
      'billing/usage/by-meter',
      'billing/prices',
      'requests',
      'campaigns/performance-summary',
      'campaigns/budget-summary',
      'rejected_events',
      'privacy/opt-outs',
      'privacy/erasures',
    ].map((path) => [`GET /api/v1/${path}`, {}]),
  ),
})

async function ask(
  name: string,
  { params = {}, query = {}, body }: Asked,
  key = service.ours.testKey,
): Promise<Example> {
  const [method, path] = name.split(' ') as ['GET' | 'POST', string]
  const answer = await service.app.inject({
    method,
    url: path.replace(/\{(\w+)\}/g, (_, parameter) => params[parameter]!),
    query,
    headers: withKey(key),
    ...(body !== undefined && { payload: body as object }),
  })
  return {
    params,
    query,
    body,
    status: answer.statusCode,
    answer: answer.body === '' ? null : answer.json(),
  }
}

/** Bodies that are accepted, where the sample of a route is not. */
const bodies: Record<string, (tenant: Tenant) => Record<string, unknown>> = {
  'POST /api/v1/campaigns/events': ({ campaigns }) => ({
    events: [
      {
        event_id: randomUUID(),
        event_type: 'click',
        campaign_id: campaigns[0],
        ts: new Date().toISOString(),
        spend: 0.42,
      },
    ],
  }),
}

/** What is written is asked about our tenant, as every route's sample is. */
async function write(name: string): Promise<Example | null> {
  const sample = Object.entries(samples).find(([key]) => key.replace(/:(\w+)/g, '{$1}') === name)
  if (!sample) return null
  const { ours } = service
  const { params, query, body } = sample[1]
  const asked = {
    params: params?.(ours),
    query: query?.(ours),
    body: (bodies[name] ?? body)?.(ours),
  }
  return ask(name, asked as Asked, ours.key)
}

/** Everything that may be read, and everything that changes something, once. */
async function record(): Promise<Record<string, Example>> {
  const first = async (name: string, member: string, query?: Record<string, string>) =>
    ((await ask(name, query ? { query } : {})).answer as Record<string, Record<string, string>[]>)[
      member
    ]![0]!
  const { project_id: project } = await first('GET /api/v1/project/list', 'projects')
  const { pixel_id: pixel } = await first('GET /api/v1/pixel/list', 'pixels', {
    project_id: project!,
  })
  const { campaign_id: campaign } = await first('GET /api/v1/campaigns', 'campaigns')
  const { hem } = await first('GET /api/v3/events/resolution_full_profile', 'rows', {
    filter: 'has_profile:eq:true',
    select: 'hem',
    limit: '1',
  })
  const reads = readsOf(project!, campaign!, pixel!, hem!)
  const examples: Record<string, Example> = {}
  for (const name of publicOperations(document).keys()) {
    const example = reads[name]
      ? await ask(name, reads[name])
      : name.startsWith('GET')
        ? null
        : await write(name)
    if (example && example.status < 300 && example.answer !== null) examples[name] = example
  }
  return examples
}

/** The types of all members: what stays the same from day to day. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])]
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]))
}

test('every example is what the service answers today, but for ids, times and numbers', async () => {
  const actual = await record()
  if (process.env.RECORD) writeFileSync(examplesFile, `${JSON.stringify(actual, null, 2)}\n`)
  const examples = readExamples()
  expect(Object.keys(examples)).toEqual(Object.keys(actual))
  const names = (example: Example) => Object.keys((shapeOf(example.answer) as object) ?? {}).sort()
  for (const [name, example] of Object.entries(examples)) {
    expect({ name, status: example.status, has: names(example) }).toEqual({
      name,
      status: actual[name]!.status,
      has: names(actual[name]!),
    })
  }
})

test('every example is as the description says, and stands in it', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats(ajv)
  ajv.addFormat('int64', true)
  const operations = publicOperations(document)
  const examples = Object.entries(readExamples())
  expect(examples.length).toBeGreaterThan(45)
  for (const [name, { status, body, answer }] of examples) {
    const { responses, requestBody } = operations.get(name)!
    const described = responses[status]!.content!['application/json']!
    expect({ name, example: described.example }).toEqual({ name, example: answer })
    expect({ name, errors: ajv.validate(described.schema!, answer) ? null : ajv.errors }).toEqual({
      name,
      errors: null,
    })
    const asked = requestBody?.content['application/json']
    if (body !== undefined)
      expect({ name, valid: ajv.validate(asked!.schema!, body) }).toEqual({ name, valid: true })
  }
})
