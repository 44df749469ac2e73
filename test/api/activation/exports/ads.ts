import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Exports, hemOf } from '../../../harness/exports.ts'
import { waitFor } from '../../../harness/service.ts'
import {
  type Meta,
  metaAudience,
  metaToken,
  startMeta,
  tooManyCalls,
} from '../../../harness/standIns/metaAds.ts'
import { startTradeDesk, type TradeDesk, tradeDesk } from '../../../harness/standIns/tradeDesk.ts'

const people = (
  mark: string,
  count: number,
  more: (n: number) => Record<string, unknown> = () => ({}),
) => Array.from({ length: count }, (_, n) => ({ address: `${mark}${n}@known.example`, ...more(n) }))

export const metaTests = (open: () => Exports) =>
  describe('Meta', () => {
    let meta: Meta
    let integration_id: string
    beforeAll(async () => {
      meta = await startMeta()
      integration_id = await open().newIntegration(
        'meta_ads',
        { custom_audience_id: metaAudience, api_base: meta.url },
        { access_token: metaToken },
      )
    })
    afterAll(() => meta?.close())

    test('hems go to the custom audience; who opts out is removed from it', async () => {
      expect(await open().get('POST', `integrations/${integration_id}/check`)).toMatchObject({
        check: { works: true },
      })
      meta.mishaps = [{ answer: { status: 500 } }, { dies: 'after' }]
      const audience_id = await open().audienceOf(people('m', 30))
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      expect(await open().ended(ids)).toMatchObject({ status: 'completed', records_exported: 30 })
      expect(meta.people.size).toBe(30)
      // The same session in both tries: Meta counts it once.
      expect(meta.sessions.size).toBe(1)
      await open().get('POST', 'privacy/opt-outs', { hem: hemOf('m4@known.example') })
      await open().postgres.query("SELECT pg_notify('footfall_jobs', 'exports.removals')")
      await waitFor('the removal', () => !meta.people.has(hemOf('m4@known.example')), 55_000)
      expect(meta.people.size).toBe(29)
    }, 120_000)

    test('entries that Meta cannot read fail alone, though it tells only some of them; limits park', async () => {
      const unreadable = new Set([1, 5, 9, 13, 17].map((n) => hemOf(`x${n}@known.example`)))
      meta.misbehave = ({ method, body }) => {
        if (method !== 'POST') return null
        const { data } = JSON.parse(body.toString()).payload as { data: string[][] }
        const invalid = data.filter(([entry]) => unreadable.has(entry!))
        const invalid_entry_samples = Object.fromEntries(
          invalid.slice(0, 3).map(([entry], n) => [n, entry]),
        )
        const counts = { num_received: data.length, num_invalid_entries: invalid.length }
        return { answer: { status: 200, body: { ...counts, invalid_entry_samples } } }
      }
      meta.mishaps = [{ answer: tooManyCalls }]
      const audience_id = await open().audienceOf(people('x', 20))
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      await open().ended(ids, ({ status }) => status === 'parked')
      await open().resume(ids)
      expect(await open().ended(ids)).toMatchObject({ records_exported: 15, records_failed: 5 })
      const { failures } = await open().get(
        'GET',
        `exports/${ids.exportId}/runs/${ids.runId}/failures`,
      )
      expect(new Set(failures.map(({ record }: { record: string }) => record))).toEqual(unreadable)
      meta.misbehave = () => null
    })
  })

export const tradeDeskTests = (open: () => Exports) =>
  describe('The Trade Desk', () => {
    let desk: TradeDesk
    let integration_id: string
    beforeAll(async () => {
      desk = await startTradeDesk()
      const { advertiser_id, crm_data_id, api_token } = tradeDesk
      integration_id = await open().newIntegration(
        'the_trade_desk',
        {
          advertiser_id,
          crm_data_id,
          segment_name: 'visitors',
          api_base: desk.url,
          data_base: desk.url,
        },
        { api_token },
      )
    })
    afterAll(() => desk?.close())

    test('hems are dropped as base64 of their bytes; a drop address is asked for anew when its upload dies', async () => {
      desk.mishaps = [null, { dies: 'before' }]
      const audience_id = await open().audienceOf(people('t', 25))
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      expect(await open().ended(ids)).toMatchObject({ status: 'completed', records_exported: 25 })
      expect(desk.hems).toContain(Buffer.from(hemOf('t3@known.example'), 'hex').toString('base64'))
      expect(desk.hems.size).toBe(25)
    })

    test('addresses of Gmail that profiles name have the form of UID2, without dots and plus', async () => {
      const known = 'jane.doe+news@gmail.com'
      const audience_id = await open().audienceOf([
        { address: known, personal_email: 'Jane.Doe+News@gmail.com' },
        { address: 'un.known@gmail.com' },
        { address: 'j.roe+news@known.example', business_email: 'j.roe+news@known.example' },
      ])
      desk.hems.clear()
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      expect(await open().ended(ids)).toMatchObject({ status: 'completed', records_exported: 3 })
      const sent = ['janedoe@gmail.com', 'un.known@gmail.com', 'j.roe+news@known.example']
      const base64 = (address: string) => Buffer.from(hemOf(address), 'hex').toString('base64')
      expect(desk.hems).toEqual(new Set(sent.map(base64)))
    })

    test('company_domain: a company once, with its networks; what is not known or not taken has its reason, which tells nothing that is sold', async () => {
      const networks = [
        { network: '203.0.113.0/24', company_domain: 'known-net.example' },
        { network: '10.1.0.0/16', company_domain: 'private-net.example' },
      ]
      await open().clickhouse.feed(
        { sql: 'INSERT INTO company_networks FORMAT JSONEachRow', params: {} },
        Buffer.from(networks.map((row) => `${JSON.stringify(row)}\n`).join('')),
      )
      const domains = [
        'known-net.example',
        'known-net.example',
        'private-net.example',
        'no-net.example',
      ]
      const audience_id = await open().audienceOf(
        people('d', 25, (n) => (n < domains.length ? { company_domain: domains[n] } : {})),
      )
      const ids = await open().run({ audience_id, integration_id, output_format: 'company_domain' })
      expect(await open().ended(ids)).toMatchObject({
        records_exported: 1,
        records_duplicated: 1,
        records_failed: 23,
      })
      const { failures } = await open().get(
        'GET',
        `exports/${ids.exportId}/runs/${ids.runId}/failures`,
      )
      const reasons = failures.map(({ reason }: { reason: string }) => reason).toSorted()
      expect(reasons).toEqual([
        ...Array(22).fill('No network of its company is known.'),
        expect.stringContaining('NotTargetable'),
      ])
      expect(desk.addresses.get('visitors: known-net.example')).toEqual(new Set(['203.0.113.0/24']))
    })

    test('a format whose setting the integration lacks is refused at creation and at edit', async () => {
      const { advertiser_id, crm_data_id, api_token } = tradeDesk
      const settings = { advertiser_id, api_base: desk.url, data_base: desk.url }
      const addressesOnly = { ...settings, segment_name: 'visitors' }
      const hemsOnly = await open().newIntegration(
        'the_trade_desk',
        { ...settings, crm_data_id },
        { api_token },
      )
      const audience_id = await open().audienceOf(people('s', 1))
      const create = (output_format: string, to: string) =>
        open().ask('POST', 'exports', {
          project_id: open().service.demo.project_id,
          name: 'E',
          audience_id,
          output_format,
          integration_id: to,
        })
      const refused = (setting: string) => ({
        status: 400,
        body: { parameter: 'output_format', message: expect.stringContaining(setting) },
      })
      for (const format of ['ip_address', 'company_domain'])
        expect(await create(format, hemsOnly)).toMatchObject(refused('segment_name'))
      const made = await create('hem', hemsOnly)
      expect(made.status).toBe(201)
      const path = `exports/${made.body.export.id}`
      expect(await open().ask('PATCH', path, { output_format: 'ip_address' })).toMatchObject(
        refused('segment_name'),
      )
      const change = (body: object) => open().ask('PATCH', `integrations/${hemsOnly}`, body)
      expect(await change({ settings: addressesOnly })).toMatchObject({
        status: 409,
        body: {
          error: 'conflict',
          code: 'in_use',
          message: expect.stringContaining('crm_data_id'),
          used_by: [{ export_id: made.body.export.id, name: 'E' }],
        },
      })
      expect((await change({ settings: { ...addressesOnly, crm_data_id } })).status).toBe(200)
      expect((await open().ask('PATCH', path, { output_format: 'ip_address' })).status).toBe(200)
      expect((await change({ settings: addressesOnly })).status).toBe(200)
      expect(await create('hem', hemsOnly)).toMatchObject(refused('crm_data_id'))
    })

    test('ip_address: the addresses that people’s events came from', async () => {
      const { organization_id, project_id, pixel_id } = open().service.demo
      const hem = hemOf('ip0@known.example')
      const cookie_id = crypto.randomUUID()
      await open().clickhouse.feed(
        { sql: 'INSERT INTO identity_links FORMAT JSONEachRow', params: {} },
        Buffer.from(
          `${JSON.stringify({ organization_id, cookie_id, hem, pixel_id, observed_at: Math.floor(Date.now() / 1000), spool_id: crypto.randomUUID(), seq: 1 })}\n`,
        ),
      )
      const event = {
        organization_id,
        project_id,
        pixel_id,
        cookie_id,
        event_type: 'page_view',
        ts_millis: Date.now(),
        event_data: '{}',
      }
      // Truncated addresses name nobody: they are not sent.
      for (const client_ip of ['198.51.100.7', '203.0.113.0', '2001:db8:1::']) {
        await open().clickhouse.feed(
          { sql: 'INSERT INTO events FORMAT JSONEachRow', params: {} },
          Buffer.from(
            `${JSON.stringify({ ...event, client_ip, event_id: crypto.randomUUID() })}\n`,
          ),
        )
      }
      for (const dictionary of ['identity_by_cookie', 'identity_by_cookie_lately'])
        await open().clickhouse.command({
          sql: `SYSTEM RELOAD DICTIONARY ${dictionary}`,
          params: {},
        })
      const audience_id = await open().audienceOf(people('ip', 2))
      const ids = await open().run({ audience_id, integration_id, output_format: 'ip_address' })
      expect(await open().ended(ids)).toMatchObject({ records_exported: 1, records_failed: 1 })
      expect(desk.addresses.get('visitors')).toEqual(new Set(['198.51.100.7']))
    })
  })
