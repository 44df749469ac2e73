/** People who opted out: runs neither send nor count them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reloadIdentity } from '../../../../collector/identity/store/refresh.ts'
import { type Exports, hemOf } from '../../../harness/exports.ts'
import { waitFor } from '../../../harness/service.ts'
import { type Receiver, receiverSecret, startReceiver } from '../../../harness/standIns/receiver.ts'
import { areOptOutsApplied } from './harness.ts'

export const optOutTests = (open: () => Exports) =>
  describe('people who opted out', () => {
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
    const toldOf = async (members: ReturnType<typeof people>, hidden: string[]) => {
      const audience_id = await open().audienceOf(members)
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

    test('a run tells the same with and without a member who opted out', async () => {
      const without = await toldOf(people(2, 'two'), [])
      expect(without.run).toMatchObject({
        status: 'completed',
        records_total: 2,
        records_exported: 2,
      })
      const hidden = hemOf('three2@known.example')
      expect(await toldOf(people(3, 'three'), [hidden])).toEqual(without)
    }, 120_000)
  })
