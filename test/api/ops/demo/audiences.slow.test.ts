/**
 * The demo organization's sample visitors: three audiences that the live key pages and downloads, and nothing
 * else.
 */
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, readRows } from '../../../harness/api.ts'
import { ownDatabases } from '../../../harness/databases.ts'
import { type Service, startService, waitFor } from '../../../harness/service.ts'

let env: Record<string, string>
let service: Service
beforeAll(async () => {
  env = await ownDatabases()
  service = await startService({ env, hasSample: true })
  // Until then the demo uses the service itself, once, where nobody has yet.
  await waitFor('the welcome', () => service.output().includes('Footfall is up'), 120_000)
}, 600_000)
afterAll(() => service?.stop())

const read = async (path: string) => {
  const answer = await ask(service, `/api/v1/audiences${path}`, {
    'x-project-id': service.demo.project_id,
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as a client without our types would.
  return (await answer.json()) as any
}
const built = () =>
  waitFor(
    'three audiences',
    async () => {
      const { audiences } = await read('')
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      return audiences.length === 3 && audiences.every(({ status }: any) => status === 'completed')
        ? audiences
        : null
    },
    60_000,
  )

test('three audiences of the demo have records and files for its live key, and the welcome shows one', async () => {
  const audiences = await built()
  for (const { id, count } of audiences) {
    const { results, count: records } = await read(`/${id}/records`)
    expect([records, results.length > 0]).toEqual([count, true])
    expect(results[0]).toMatchObject({
      hem: expect.any(String),
      email: expect.stringContaining('@'),
    })
  }
  const path = service.output().match(/audiences\/([0-9a-f-]{36})\/download\S+format=parquet/)
  expect(path).not.toBeNull()
  const [, id] = path!
  const download = await waitFor(
    'the file',
    async () => {
      const found = await read(`/${id}/download?format=parquet`)
      return found.status === 'ready' ? found : null
    },
    60_000,
  )
  const file = await (await fetch(download.files[0].url)).arrayBuffer()
  expect((await parquetReadObjects({ file })).length).toBe(download.count)
})

test('two goals of the demo are met by some of its visitors', async () => {
  const read = async () => {
    const answer = await ask(
      service,
      `/api/v1/analytics/conversions?project_id=${service.demo.project_id}`,
    )
    const { conversions } = (await answer.json()) as {
      conversions: { name: string; rate: number | null }[]
    }
    return conversions.every(({ rate }) => rate !== null) ? conversions : null
  }
  // A job appends the figures after the start.
  const conversions = await waitFor('figures', read, 120_000)
  expect(conversions.map(({ name }) => name)).toEqual(['Order', 'Search'])
  for (const { rate } of conversions) {
    expect(rate).toBeGreaterThan(0)
    expect(rate).toBeLessThan(1)
  }
})

// biome-ignore lint/suspicious/noExplicitAny: as above.
const list = async (path: string): Promise<any> => (await ask(service, `/api/v1${path}`)).json()
const inProject = () => `project_id=${service.demo.project_id}`

test('exports and a webhook have a past, with every failed record; nothing of it was sent, or is', async () => {
  const { exports } = await list(`/exports?${inProject()}`)
  const byType = Object.fromEntries(
    exports.map((one: { integration_type: string; id: string }) => [one.integration_type, one.id]),
  )
  expect(Object.keys(byType).toSorted()).toEqual(['s3', 'webhook'])
  const { runs } = await list(`/exports/${byType.webhook}/runs`)
  expect(runs.map(({ status }: { status: string }) => status)).toEqual(['failed', 'completed'])
  for (const {
    run_id,
    records_failed,
    records_duplicated,
    records_exported,
    records_total,
  } of runs) {
    expect(records_exported + records_failed + records_duplicated).toBe(records_total)
    const { failures } = await list(`/exports/${byType.webhook}/runs/${run_id}/failures?limit=200`)
    expect(failures.length).toBe(records_failed)
    expect(failures[0]).toMatchObject({ record: expect.stringMatching(/^[0-9a-f]{64}$/) })
  }
  const { integrations } = await list(`/integrations?${inProject()}`)
  const { webhooks } = await list(`/webhooks?${inProject()}`)
  const addresses = [
    ...integrations.map(({ settings }: { settings: object }) => settings),
    ...webhooks,
  ].map(({ url, endpoint }) => new URL(url ?? endpoint).hostname)
  expect(addresses.every((host) => host.endsWith('.kiln-lane.example'))).toBe(true)
  expect(webhooks).toMatchObject([{ enabled: false }])
  const { deliveries } = await list(`/webhooks/${webhooks[0].id}/deliveries`)
  expect(new Set(deliveries.map(({ status }: { status: string }) => status))).toEqual(
    new Set(['delivered', 'failed']),
  )
})

test('what was asked, rejected and came again on the first start is told as it was', async () => {
  const { requests } = await waitFor('the log', async () => {
    const found = await list('/requests?charged=true')
    return found.requests.length >= 2 ? found : null
  })
  const meters = requests.map(({ meter }: { meter: string }) => meter)
  expect(meters).toEqual(expect.arrayContaining(['events', 'resolution_hem']))
  expect((await list('/privacy/opt-outs')).opt_outs.length).toBe(1)
  const rejected = await waitFor('the rejected events', async () => {
    const { rejected_events } = await list(`/rejected_events?${inProject()}`)
    return rejected_events.length === 3 ? rejected_events : null
  })
  expect(rejected.every(({ message }: { message: string }) => message !== '')).toBe(true)
})

test('a read of the shop’s pixel returns no sample visits, and another start changes no audience', async () => {
  expect(await readRows(service, { pixel_id: service.demo.pixel_id })).toEqual([])
  const before = await built()
  const { dataDir } = service
  await service.end('SIGTERM')
  service = await startService({ env, dataDir, hasSample: true })
  await waitFor('the welcome', () => service.output().includes('Footfall is up'), 30_000)
  expect(await built()).toEqual(before)
  expect((await list(`/rejected_events?${inProject()}`)).rejected_events.length).toBe(3)
  expect((await list(`/webhooks?${inProject()}`)).webhooks.length).toBe(1)
})
