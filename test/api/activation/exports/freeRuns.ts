/** What runs tell for free: nothing of hidden people, of empty audiences, and of records that were never charged. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { reloadIdentity } from '../../../../collector/identity/store/refresh.ts'
import { type Exports, hemOf } from '../../../harness/exports.ts'
import { waitFor } from '../../../harness/service.ts'
import { type Receiver, receiverSecret, startReceiver } from '../../../harness/standIns/receiver.ts'
import { areOptOutsApplied } from './harness.ts'

export const freeRunTests = (open: () => Exports) =>
  describe('what runs tell for free', () => {
    let receiver: Receiver
    let integration_id: string
    beforeAll(async () => {
      receiver = await startReceiver()
      integration_id = await open().newIntegration(
        'webhook',
        { url: `${receiver.url}/in` },
        { signing_secret: receiverSecret },
      )
    })
    afterAll(() => receiver?.close())

    const people = (count: number, mark: string) =>
      Array.from({ length: count }, (_, n) => ({ address: `${mark}${n}@known.example` }))

    test('a person is removed from a destination under one address after opting out by another', async () => {
      const pte_person_id = crypto.randomUUID()
      const [first, second] = ['first', 'second'].map(
        (name) => `${name}-${pte_person_id}@two.example`,
      )
      const updated_at = '2030-01-01T00:00:00Z'
      const audience_id = await open().audienceOf([
        { address: first!, pte_person_id },
        { address: second!, pte_person_id, updated_at },
      ])
      await reloadIdentity(open().clickhouse)
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      await open().ended(ids)
      await open().get('POST', 'privacy/opt-outs', { email: first })
      await waitFor('the opt-out in ClickHouse', () => areOptOutsApplied(open()))
      await open().postgres.query("SELECT pg_notify('footfall_jobs', 'exports.removals')")
      const removed = () => [...receiver.messages.values()].flatMap(({ data }) => data.hems ?? [])
      await waitFor('the removal', () => removed().includes(hemOf(second!)), 55_000)
    }, 120_000)

    /** All that a run tells, of an audience of these people, of whom the organization opted out those of `hidden`. */
    const toldOf = async (
      of: 'audienceOf' | 'chosenAudienceOf',
      members: ReturnType<typeof people>,
      hidden: string[],
    ) => {
      const audience_id = await open()[of](members)
      for (const hem of hidden) await open().get('POST', 'privacy/opt-outs', { hem })
      await waitFor('the opt-out in ClickHouse', () => areOptOutsApplied(open()))
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      const run = await open().ended(ids)
      const path = `exports/${ids.exportId}/runs/${ids.runId}`
      const { rows } = await open().postgres.query<{ data: Record<string, unknown> }>(
        `SELECT data FROM outbox_messages WHERE type = 'export.run_ended' AND data ->> 'run_id' = $1`,
        [ids.runId],
      )
      const own = { run_id: '', export_id: '', build_id: '' }
      const times = { requested_at: '', started_at: '', ended_at: '' }
      const retry = await open().ask('POST', `${path}/retry`)
      if (retry.body.run) await open().ended({ ...ids, runId: retry.body.run.run_id })
      return {
        run: { ...run, ...own, ...times },
        failures: await open().get('GET', `${path}/failures`),
        message: rows.map(({ data }) => ({ ...data, ...own })),
        retry: retry.status,
      }
    }

    test.each(['audienceOf', 'chosenAudienceOf'] as const)(
      'a run of %s tells the same with and without a member who opted out',
      async (of) => {
        const mark = `w${of}`
        const without = await toldOf(of, people(2, `${mark}-two`), [])
        expect(without.run).toMatchObject({
          status: 'completed',
          records_expected: 2,
          records_total: 2,
          records_exported: 2,
        })
        const hidden = hemOf(`${mark}-three2@known.example`)
        expect(await toldOf(of, people(3, `${mark}-three`), [hidden])).toEqual(without)
      },
      120_000,
    )

    test('with no credit, a run is refused alike: of nobody, of somebody, and of somebody who opted out', async () => {
      const { organization_id } = open().service.demo
      const shutOff = (at: string) =>
        open().postgres.query(
          `UPDATE billing_accounts SET shut_off_at = ${at} WHERE organization_id = $1`,
          [organization_id],
        )
      await shutOff('now()')
      try {
        const [one, two, three] = ['none1', 'none2', 'none3'].map((mark) => people(1, mark))
        const hidden = [hemOf('none20@known.example')]
        const known = await toldOf('audienceOf', one!, [])
        expect(known.run).toMatchObject({
          status: 'failed',
          error: expect.stringMatching(/paused/),
        })
        expect(await toldOf('audienceOf', two!, hidden)).toEqual(known)
        const chosen = await toldOf('chosenAudienceOf', three!, [])
        expect(chosen.run).toMatchObject({ status: 'failed', error: known.run.error })
        expect(await toldOf('chosenAudienceOf', two!, hidden)).toEqual(chosen)
        expect(await toldOf('chosenAudienceOf', [], [])).toEqual(chosen)
      } finally {
        await shutOff('NULL')
      }
    }, 240_000)

    test.each(['audienceOf', 'chosenAudienceOf'] as const)(
      'a destination that answers and then refuses connections learns no number of %s for free: the charge stays, and a retry is free',
      async (of) => {
        const audience_id = await open()[of](people(3, `gone${of}`))
        const types: string[] = []
        let isClosing = true
        const listen = (port: number) =>
          new Promise<Server>((resolve) => {
            const server = createServer(async (request, response) => {
              types.push((JSON.parse(await text(request)) as { type: string }).type)
              response.writeHead(204, { connection: 'close' }).end()
              if (isClosing) server.close()
            }).listen(port, '127.0.0.1', () => resolve(server))
          })
        const { port } = (await listen(0)).address() as AddressInfo
        const to = await open().newIntegration(
          'webhook',
          { url: `http://127.0.0.1:${port}/in` },
          { signing_secret: receiverSecret },
        )
        const before = await open().charged()
        const ids = await open().run({ audience_id, integration_id: to, output_format: 'hem' })
        await open().ended(ids, ({ status }) => status === 'parked')
        await open().get('POST', `exports/${ids.exportId}/runs/${ids.runId}/cancel`)
        const run = await open().ended(ids)
        expect(types).toEqual(['export.check'])
        expect(run).toMatchObject({ status: 'failed', records_failed: 3, records_charged: 3 })
        expect(await open().charged()).toBe(before + 3)
        isClosing = false
        const back = await listen(port)
        onTestFinished(() => void back.close())
        const { run: retry } = await open().get(
          'POST',
          `exports/${ids.exportId}/runs/${ids.runId}/retry`,
        )
        const again = { ...ids, runId: retry.run_id }
        expect(await open().ended(again)).toMatchObject({ records_exported: 3, records_charged: 0 })
      },
      120_000,
    )
  })
