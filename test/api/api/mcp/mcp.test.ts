/** `npx footfall-server mcp`, spoken to with the protocol's own client. */
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../../../collector/api/client/index.ts'
import { createMcpServer } from '../../../../collector/api/mcp/mcpServer.ts'
import { packageRoot } from '../../../../collector/platform/paths.ts'
import { beaconOf, customEvent, postBeacon } from '../../../harness/api.ts'
import { waitFor } from '../../../harness/service.ts'
import { type Accounts, type Json, openAccounts } from '../../accounts/harness.ts'

const cli = join(packageRoot, 'dist/collector/cli.js')
const name = `mcp ${randomUUID()}`

let it: Accounts
let client: Client
beforeAll(async () => {
  it = await openAccounts()
  const events = Array.from({ length: 5 }, () => {
    const event = customEvent()
    return { ...event, event_data: { ...event.event_data, name } }
  })
  await postBeacon(it.url, beaconOf(it.service, events))
  await waitFor('the events', async () => {
    const { total } = await it.done(it.key, `GET ${counts}`)
    return total === 5
  })
  const overview = `/api/v1/analytics/overview?project_id=${it.demo.project_id}`
  const areInFigures = async () => (await it.done(it.key, `GET ${overview}`)).overview.events === 5
  await waitFor('the figures', areInFigures, 120_000)
  client = await connect()
})
afterAll(async () => {
  await client?.close()
  await it?.close()
})

const filter = `event_data.name:eq:${name}`
const counts = `/api/v3/events/web_event/counts?filter=${encodeURIComponent(filter)}`

const loginOf = (key: Record<string, string>) => ({
  FOOTFALL_URL: it.url,
  FOOTFALL_API_KEY: key['x-api-key']!,
  FOOTFALL_API_SECRET: key['x-api-secret']!,
})

async function connect(): Promise<Client> {
  const connected = new Client({ name: 'test', version: '1' })
  const env = { ...(process.env as Record<string, string>), ...loginOf(it.key) }
  await connected.connect(
    new StdioClientTransport({ command: process.execPath, args: [cli, 'mcp'], env }),
  )
  return connected
}

const call = async (tool: string, args: object = {}): Promise<Json> => {
  const result: Json = await client.callTool({ name: tool, arguments: { ...args } })
  return { ...result, text: result.content[0].text }
}

/** How many records were charged to the organization so far. */
async function charged(): Promise<number> {
  const { rows } = await it.postgres.query(
    'SELECT coalesce(sum(records), 0)::int AS records FROM ledger WHERE organization_id = $1',
    [it.demo.organization_id],
  )
  return rows[0].records
}

test('free tools answer what the API answers', async () => {
  const start_ms = Date.now() - 3_600_000
  const end_ms = Date.now()
  for (const [tool, args, path] of [
    ['whoAmI', {}, '/api/v1/whoami'],
    ['listProjects', {}, '/api/v1/project/list'],
    [
      'countEvents',
      { filter, start_ms, end_ms, group_by: 'event_type' },
      `${counts}&start_ms=${start_ms}&end_ms=${end_ms}&group_by=event_type`,
    ],
    [
      'getAnalyticsOverview',
      { project_id: it.demo.project_id, start_ms, end_ms },
      `/api/v1/analytics/overview?project_id=${it.demo.project_id}&start_ms=${start_ms}&end_ms=${end_ms}`,
    ],
    [
      'listAudiences',
      { project_id: it.demo.project_id },
      `/api/v1/audiences?project_id=${it.demo.project_id}`,
    ],
    ['getField', { name: 'page_url' }, '/api/v1/field-catalog/page_url'],
  ] as const) {
    const { structuredContent, text, isError } = await call(tool, args)
    expect({ tool, isError, text }).toMatchObject({ tool, isError: undefined })
    const answer = await it.done(it.key, `GET ${path}`)
    for (const each of [answer, structuredContent]) delete each.meta?.request_id
    expect({ tool, answer: structuredContent }).toEqual({ tool, answer })
  }
})

test('a charged tool without max_records is refused and charges nothing', async () => {
  const before = await charged()
  for (const [tool, args] of [
    ['listEvents', { filter }],
    ['listEvents', { filter, max_records: 0 }],
    ['listEvents', { filter, max_records: '5' }],
    ['lookUpPerson', { email: 'ann@example.com' }],
    ['lookUpPeople', { items: [{ email: 'ann@example.com' }] }],
    ['findPeopleByTopic', { topic: 'golf' }],
  ] as const) {
    const { isError, text } = await call(tool, args)
    expect({ tool, isError, text }).toEqual({
      tool,
      isError: true,
      text: expect.stringMatching(
        /max_records must be an integer.*Nothing was requested or charged/,
      ),
    })
  }
  const tooMany = await call('lookUpPeople', { items: [{}, {}], max_records: 1 })
  expect(tooMany).toMatchObject({ isError: true, text: expect.stringContaining('got 2') })
  expect(await charged()).toBe(before)
})

test('a charged tool reads and charges at most max_records', async () => {
  const before = await charged()
  const { structuredContent } = await call('listEvents', { filter, max_records: 3 })
  expect(structuredContent.rows).toHaveLength(3)
  expect(structuredContent.meta).toMatchObject({ charged: 3, has_more: true })
  expect(await charged()).toBe(before + 3)
  const { rows } = await it.done(
    it.key,
    `GET /api/v3/events/web_event?limit=3&filter=${encodeURIComponent(filter)}`,
  )
  expect(structuredContent.rows).toEqual(rows)
})

test('a parameter that a tool does not list is refused, and nothing is requested', async () => {
  const before = await charged()
  for (const [tool, args, parameter] of [
    ['listEvents', { filter, max_records: 3, limit: 3 }, 'limit'],
    ['listEvents', { filter, max_records: 3, pages: 20 }, 'pages'],
    [
      'listAudienceRecords',
      { audience_id: randomUUID(), max_records: 3, page_size: 9 },
      'page_size',
    ],
    ['findPeopleByTopic', { topic: 'golf', max_records: 3, 'X-More': 1 }, 'X-More'],
    ['whoAmI', { limit: 3 }, 'limit'],
  ] as const) {
    const { isError, text } = await call(tool, args)
    expect({ isError, text }).toEqual({
      isError: true,
      text: expect.stringContaining(`${tool} has no parameter "${parameter}". Allowed: `),
    })
  }
  expect(await charged()).toBe(before)
})

describe('the bounds of each charged tool', () => {
  /** Answers every request with an empty object, and keeps its parameters. */
  const sent: Json[] = []
  const recorder = createServer(async (request, response) => {
    const body = await text(request)
    const { searchParams } = new URL(request.url!, 'http://localhost')
    sent.push({ ...Object.fromEntries(searchParams), ...(body && JSON.parse(body)) })
    response.setHeader('content-type', 'application/json')
    response.end('{}')
  })
  afterAll(() => {
    recorder.close()
  })

  test('multiply to max_records at most, with the largest value of every parameter', async () => {
    await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve))
    const baseUrl = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`
    const document = (await (await fetch(`${it.url}/openapi.json`)).json()) as Json
    const { 'x-api-key': key, 'x-api-secret': secret } = it.key
    const server = createMcpServer(
      createClient({ baseUrl, key: key!, secret: secret! }),
      document as never,
    )
    const assistant = new Client({ name: 'test', version: '1' })
    const [one, other] = InMemoryTransport.createLinkedPair()
    await Promise.all([server.connect(one), assistant.connect(other)])
    const max_records = 3
    const tools = (await assistant.listTools()).tools.filter(
      ({ inputSchema }) => 'max_records' in (inputSchema.properties ?? {}),
    )
    expect(tools.length).toBeGreaterThanOrEqual(15)
    for (const { name: tool, inputSchema } of tools) {
      sent.length = 0
      const args = Object.fromEntries(
        Object.entries(inputSchema.properties as Json)
          .filter(([parameter]) => parameter !== 'dry_run')
          .map(([parameter, schema]) => [parameter, largest(parameter, schema, max_records)]),
      )
      await assistant.callTool({ name: tool, arguments: { ...args, max_records } })
      expect({ tool, requests: sent.length }).toEqual({ tool, requests: 1 })
      const bounds = Object.entries(sent[0]!).flatMap(([parameter, value]) =>
        /_ms$/.test(parameter)
          ? []
          : parameter === 'items'
            ? [(value as unknown[]).length]
            : typeof value === 'number' || /^\d+$/.test(String(value))
              ? [Number(value)]
              : [],
      )
      const most = bounds.reduce((product, bound) => product * bound, 1)
      expect({ tool, bounds, isWithin: most <= max_records }).toEqual({
        tool,
        bounds,
        isWithin: true,
      })
    }
    await assistant.close()
  })

  /** The value of a parameter that returns most. */
  function largest(
    parameter: string,
    { type, maximum, enum: values, maxItems = 20 }: Json,
    max_records: number,
  ): unknown {
    if (parameter === 'items') return Array.from({ length: max_records }, () => ({}))
    if (type === 'integer' || type === 'number') return maximum ?? 1_000_000
    if (type === 'array') return Array.from({ length: maxItems }, () => 'x')
    if (type === 'boolean') return true
    return values?.at(-1) ?? 'x'
  }
})

test('a dry run needs no max_records and charges nothing', async () => {
  const before = await charged()
  const { structuredContent } = await call('findPeopleByTopic', { topic: 'golf', dry_run: true })
  expect(structuredContent).toMatchObject({ dry_run: true, records_to_charge: expect.any(Number) })
  expect(await charged()).toBe(before)
})

test('an error of the API is an error of the tool, with its words', async () => {
  const { isError, text } = await call('countEvents', { filter: 'nothing' })
  expect(isError).toBe(true)
  expect(JSON.parse(text)).toMatchObject({ error: 'invalid_parameter', parameter: 'filter' })
  expect(await call('deleteOrganization')).toMatchObject({ isError: true })
})

test('tools only read: none changes anything, shows a secret or needs a session', async () => {
  const { tools } = await client.listTools()
  expect(tools.length).toBeGreaterThan(60)
  const { paths } = (await (await fetch(`${it.url}/openapi.json`)).json()) as Json
  const charges = new Map<string, boolean>()
  for (const operations of Object.values<Json>(paths))
    for (const { operationId, parameters = [] } of Object.values<Json>(operations))
      charges.set(
        operationId,
        parameters.some((each: Json) => each.name === 'Idempotency-Key'),
      )
  for (const { name: tool, inputSchema, annotations, description } of tools) {
    expect(tool).toMatch(/^(get|list|count|trace|lookUp|find|preview|query|sample|whoAmI)/)
    expect(tool).not.toMatch(/Secret|Session|Key|Privacy/)
    expect(annotations?.readOnlyHint).toBe(true)
    const isCharged = 'max_records' in (inputSchema.properties ?? {})
    expect({ tool, isCharged }).toEqual({ tool, isCharged: charges.get(tool) })
    expect(description).toContain(isCharged ? 'requires max_records' : 'Free.')
  }
})

test('without a key, and where no service answers, the command says what to set', () => {
  const run = (env: Record<string, string>) =>
    spawnSync(process.execPath, [cli, 'mcp'], { env: { ...process.env, ...env }, encoding: 'utf8' })
  const noKey = run({ FOOTFALL_URL: it.url, FOOTFALL_API_KEY: '' })
  expect(noKey).toMatchObject({ status: 1, stdout: '' })
  expect(noKey.stderr).toContain('FOOTFALL_API_KEY')
  const nobody = run({ ...loginOf(it.key), FOOTFALL_URL: 'http://127.0.0.1:1' })
  expect(nobody).toMatchObject({ status: 1, stdout: '' })
  expect(nobody.stderr).toContain('FOOTFALL_URL')
})
