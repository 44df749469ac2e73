/**
 * The examples of /docs equal the service's answers to a test key. `RECORD=1` writes them again; run `npm run
 * format` afterwards.
 */
import { writeFileSync } from 'node:fs'
import Ajv2020 from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleIdentity } from '../../collector/api/access/sandboxTenant.ts'
import {
  type Document,
  type Operation,
  publicOperations,
} from '../../collector/api/openapi/document.ts'
import { type Example, examplesFile, readExamples } from '../../collector/api/openapi/examples.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { resolveRefs } from '../harness/openapi.ts'
import { type Answering, waitFor } from '../harness/service.ts'
import { openTenant } from '../harness/sharedApp.ts'
import { askedOfSample, sampleRefusals } from './sampleTenant.ts'

let service: Answering
let document: Document
beforeAll(async () => {
  const tenant = await openTenant({ hasSample: true })
  const { env } = tenant
  service = tenant.service
  const postgres = openPostgres(env.DATABASE_URL!, () => {})
  await waitFor(
    'the sample audience and list',
    async () => {
      const { rowCount } = await postgres.query(
        `SELECT FROM audiences, list_imports
         WHERE audience_id = $1 AND current_build_id IS NOT NULL AND import_id = $2 AND status = 'completed'`,
        [sampleIdentity.audienceId, sampleIdentity.importId],
      )
      return rowCount! > 0
    },
    120_000,
  )
  await postgres.end()
  document = resolveRefs((await (await fetch(`${service.url}/openapi.json`)).json()) as Document)
}, 600_000)
afterAll(() => service?.stop())

type Asked = Partial<Record<'params' | 'query', Record<string, string>>> & { body?: unknown }

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
  'GET /api/v1/audiences/{audience_id}/builds/{build_id}/changes': {
    params: { audience_id: sampleIdentity.audienceId, build_id: sampleIdentity.buildId },
    query: { project_id: project, page_size: '1' },
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
  'GET /api/v1/project/user/retrieve/{member_id}': {
    params: { member_id: sampleIdentity.memberId },
    query: { project_id: project },
  },
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

/** Longer answers are no examples to read. */
const answerCharsMax = 8_000

/** Asks an operation with the demo's test key. */
async function ask(name: string, { params = {}, query = {}, body }: Asked): Promise<Example> {
  const [method, path] = name.split(' ') as [string, string]
  const url = `${service.url}${path.replace(/\{(\w+)\}/g, (_, parameter) => params[parameter]!)}`
  const answer = await fetch(`${url}?${new URLSearchParams(query)}`, {
    method,
    headers: {
      'x-api-key': service.demo.test_api_key,
      'x-api-secret': service.demo.test_api_secret,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isShown =
    answer.headers.get('content-type')?.includes('json') && text.length <= answerCharsMax
  const isLines = answer.headers.get('content-type')?.includes('ndjson')
  return {
    params,
    query,
    body,
    status: answer.status,
    answer: text !== '' && isShown && !isLines ? JSON.parse(text) : null,
  }
}

const forKeys = ({ security, tags }: Operation) =>
  security?.some((one) => 'key' in one) && !tags?.includes('Ingest')

/** Operations that the sample refuses. */
const withoutExample = (name: string) =>
  sampleRefusals[name.replace(/\{(\w+)\}/g, ':$1')] !== undefined

/** Everything that a key may ask, once. */
async function record(): Promise<Record<string, Example>> {
  const { projectId, pixelId, campaignId } = sampleIdentity
  const found = await ask('GET /api/v3/events/resolution_full_profile', {
    query: { filter: 'has_profile:eq:true', select: 'hem', limit: '1' },
  })
  const { hem } = (found.answer as { rows: { hem: string }[] }).rows[0]!
  const reads = readsOf(projectId, campaignId, pixelId, hem)
  const examples: Record<string, Example> = {}
  for (const [name, operation] of publicOperations(document)) {
    if (!forKeys(operation) || withoutExample(name)) continue
    const asked = reads[name] ?? askedOfSample(name.replace(/\{(\w+)\}/g, ':$1'))
    if (asked) examples[name] = await ask(name, asked)
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
    expect(example.status).toBeLessThan(300)
    expect({ name, status: example.status, has: names(example) }).toEqual({
      name,
      status: actual[name]!.status,
      has: names(actual[name]!),
    })
  }
})

test('every example of the document is answered to the demo’s test key as it says', async () => {
  const wrong: unknown[] = []
  let asked = 0
  for (const [name, { parameters = [], requestBody, ...operation }] of publicOperations(document)) {
    if (!forKeys({ ...operation, parameters }) || withoutExample(name)) continue
    const of = (place: string) =>
      Object.fromEntries(
        parameters
          .filter((one) => one.in === place && one.example !== undefined)
          .map((one) => [one.name, String(one.example)]),
      )
    const lacking = parameters.filter((one) => one.required && one.example === undefined)
    const content = requestBody?.content['application/json']
    if (lacking.length > 0 || (requestBody?.required && content?.example === undefined))
      wrong.push({
        name,
        lacking: lacking.map((one) => one.name),
        hasBody: content?.example !== undefined,
      })
    const { status, answer } = await ask(name, {
      params: of('path'),
      query: of('query'),
      body: content?.example,
    })
    asked++
    if (status >= 300 || !(status in operation.responses)) wrong.push({ name, status, answer })
  }
  expect(asked).toBeGreaterThan(100)
  expect(wrong).toEqual([])
}, 600_000)

test('every example is as the description says, and stands in it', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats(ajv)
  ajv.addFormat('int64', true)
  const operations = publicOperations(document)
  const examples = Object.entries(readExamples())
  expect(examples.length).toBeGreaterThan(45)
  for (const [name, { status, body, answer }] of examples.filter(
    ([, { answer }]) => answer !== null,
  )) {
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
