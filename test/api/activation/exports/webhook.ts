import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addOptOut } from '../../../../collector/identity/privacy/optOuts.ts'
import { type Exports, hemOf } from '../../../harness/exports.ts'
import { storeOrganization } from '../../../harness/owners.ts'
import { waitFor } from '../../../harness/service.ts'
import { type Receiver, receiverSecret, startReceiver } from '../../../harness/standIns/receiver.ts'
import { areOptOutsApplied } from './harness.ts'

export const webhookTests = (open: () => Exports) =>
  describe('webhook', () => {
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
      Array.from({ length: count }, (_, n) => ({
        address: `${mark}${n}@known.example`,
        email: `${mark}${n}@known.example`,
        first_name: `N${n}`,
      }))
    const received = (runId: string) =>
      [...receiver.messages.values()].filter(({ data }) => data.run_id === runId)

    test('a run sends every record once, signed, charges it, and its counters add up', async () => {
      const audience_id = await open().audienceOf(people(1_200, 'w'))
      const mapping = { mail: 'email', given: 'first_name' }
      const ids = await open().run({
        audience_id,
        integration_id,
        output_format: 'ndjson',
        mapping,
      })
      const run = await open().ended(ids)
      expect(run).toMatchObject({
        status: 'completed',
        records_total: 1_200,
        records_exported: 1_200,
        records_failed: 0,
        records_duplicated: 0,
        records_charged: 1_200,
        error: null,
      })
      const messages = received(ids.runId)
      expect(messages.map(({ type, data }) => data.records?.length ?? type).toSorted()).toEqual([
        200,
        500,
        500,
        'export.ended',
      ])
      const records = messages.flatMap(({ data }) => data.records ?? [])
      expect(new Set(records.map(({ mail }) => mail)).size).toBe(1_200)
      expect(Object.keys(records[0]!).toSorted()).toEqual(['given', 'mail'])
      const again = await open().get('POST', `exports/${ids.exportId}/runs`)
      expect(await open().ended({ ...ids, runId: again.run.run_id })).toMatchObject({
        // Records of the build that were charged that day are free.
        records_exported: 1_200,
        records_charged: 0,
      })
    })

    test('what dies or is cut off after the work was done is sent again, and counted once', async () => {
      const audience_id = await open().audienceOf(people(700, 'd'))
      receiver.mishaps = [
        { dies: 'after' },
        { dies: 'before' },
        { truncates: true },
        { answer: { status: 503 } },
        { answer: { status: 429, headers: { 'retry-after': '1' } } },
      ] as Receiver['mishaps']
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      const isParkedOrOver = ({ status, ended_at }: { status: string; ended_at: string | null }) =>
        status === 'parked' || ended_at !== null
      let run = await open().ended(ids, isParkedOrOver)
      // After each of them it waits for twice as long.
      for (; run.status === 'parked'; run = await open().ended(ids, isParkedOrOver))
        await open().resume(ids)
      expect(run).toMatchObject({ status: 'completed', records_exported: 700, records_failed: 0 })
      const records = received(run.run_id).flatMap(({ data }) => data.records ?? [])
      expect(new Set(records.map(({ hem }) => hem)).size).toBe(700)
    })

    test('a body that is refused fails its records with the reason, and a retry sends only those', async () => {
      const audience_id = await open().audienceOf(people(600, 'r'))
      receiver.mishaps = [{ answer: { status: 422 } }]
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      expect(await open().ended(ids)).toMatchObject({
        status: 'completed',
        records_total: 600,
        records_exported: 100,
        records_failed: 500,
      })
      const path = `exports/${ids.exportId}/runs/${ids.runId}`
      const first = await open().get('GET', `${path}/failures?limit=200`)
      expect(first.failures).toHaveLength(200)
      expect(first.failures[0]).toEqual({
        record: expect.stringMatching(/^[0-9a-f]{64}$/),
        outcome: 'failed',
        class: 'never',
        reason: expect.stringContaining('answered 422'),
        index: null,
        path: '',
        code: 'never',
        message: expect.stringContaining('answered 422'),
      })
      const all = new Set<string>()
      for (let cursor = ''; ; ) {
        const page = await open().get('GET', `${path}/failures?limit=200${cursor}`)
        for (const { record } of page.failures) all.add(record)
        if (!page.next_cursor) break
        cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
      }
      expect(all.size).toBe(500)
      const retry = await open().retry(ids)
      expect(await open().ended(retry)).toMatchObject({
        status: 'completed',
        retry_of: ids.runId,
        records_exported: 500,
        records_charged: 0,
      })
      const again = received(retry.runId).flatMap(({ data }) => data.records ?? [])
      expect(new Set(again.map(({ hem }) => hem))).toEqual(all)
      expect(
        (await open().ask('POST', `exports/${ids.exportId}/runs/${retry.runId}/retry`)).status,
      ).toBe(409)
    })

    test('an address that refuses us stops the run: all records have the reason, and a retry sends them', async () => {
      const audience_id = await open().audienceOf(people(30, 's'))
      receiver.mishaps = [{ answer: { status: 410 } }]
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      const run = await open().ended(ids)
      expect(run).toMatchObject({ status: 'failed', records_total: 30, records_failed: 30 })
      expect(run.error).toContain('answered 410')
      const retry = await open().retry(ids)
      expect(await open().ended(retry)).toMatchObject({
        records_exported: 30,
      })
    })

    test('a budget that is used up stops the run with that reason, and nothing is sent for free', async () => {
      const audience_id = await open().audienceOf(people(40, 'b'))
      const { organization_id } = open().service.demo
      await open().postgres.query(
        'UPDATE billing_accounts SET shut_off_at = now() WHERE organization_id = $1',
        [organization_id],
      )
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      const run = await open().ended(ids)
      await open().postgres.query(
        'UPDATE billing_accounts SET shut_off_at = NULL WHERE organization_id = $1',
        [organization_id],
      )
      expect(run).toMatchObject({ status: 'failed', records_failed: 40, records_charged: 0 })
      expect(run.error).toMatch(/paused/)
      expect(received(ids.runId)).toEqual([])
      const retry = await open().retry(ids)
      expect(await open().ended(retry)).toMatchObject({
        records_exported: 40,
        records_charged: 40,
      })
    })

    test('the receiver gets no removal for opt-outs of another organization', async () => {
      const audience_id = await open().audienceOf(people(3, 'q'))
      await open().ended(await open().run({ audience_id, integration_id, output_format: 'hem' }))
      const elsewhere = randomUUID()
      await storeOrganization(open().postgres, elsewhere, 'Elsewhere')
      const [hidden, hiddenElsewhere] = [hemOf('q0@known.example'), hemOf('q1@known.example')]
      await addOptOut(open().postgres, elsewhere, { hem: hiddenElsewhere })
      await open().get('POST', 'privacy/opt-outs', { hem: hidden })
      await open().postgres.query("SELECT pg_notify('footfall_jobs', 'exports.removals')")
      const removed = () => [...receiver.messages.values()].flatMap(({ data }) => data.hems ?? [])
      await waitFor('the removal', () => removed().includes(hidden), 55_000)
      expect(removed()).not.toContain(hiddenElsewhere)
    })

    test('whoever opts out is not sent, and the receiver is told of those it had', async () => {
      const audience_id = await open().audienceOf(people(20, 'o'))
      receiver.mishaps = [{ answer: { status: 422 } }]
      const refused = await open().run({ audience_id, integration_id, output_format: 'hem' })
      expect(await open().ended(refused)).toMatchObject({ records_failed: 20 })
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      await open().ended(ids)
      const hem = hemOf('o3@known.example')
      await open().get('POST', 'privacy/opt-outs', { hem })
      await open().postgres.query("SELECT pg_notify('footfall_jobs', 'exports.removals')")
      await waitFor(
        'the removal',
        () =>
          [...receiver.messages.values()].some(
            ({ type, data }) => type === 'export.removed' && data.hems?.includes(hem),
          ),
        55_000,
      )
      await waitFor('the opt-out in ClickHouse', () => areOptOutsApplied(open()))
      const { run } = await open().get('POST', `exports/${ids.exportId}/runs`)
      expect(await open().ended({ ...ids, runId: run.run_id })).toMatchObject({
        records_exported: 19,
        records_failed: 0,
      })
      const { run: retry } = await open().get(
        'POST',
        `exports/${refused.exportId}/runs/${refused.runId}/retry`,
      )
      expect(await open().ended({ ...refused, runId: retry.run_id })).toMatchObject({
        records_total: 19,
        records_exported: 19,
      })
      await open().postgres.query(
        'INSERT INTO erasures (organization_id, hem, finished_at) VALUES ($1, $2, now())',
        [open().service.demo.organization_id, hem],
      )
      await open().postgres.query("SELECT pg_notify('footfall_jobs', 'exports.removals')")
      await waitFor('what is forgotten', async () => {
        const { rows } = await open().postgres.query(
          'SELECT record FROM export_outcomes WHERE run_id = $1',
          [refused.runId],
        )
        return rows.some(({ record }) => record === 'erased')
      })
      // The erasure deletes the member, and later runs of the build send the others.
      await open().clickhouse.command({
        sql: `DELETE FROM audience_members
              WHERE build_id = {build:UUID} AND hem_number = reinterpretAsUInt256(unhex({hem:String}))`,
        params: { build: retry.build_id, hem },
      })
      const { run: last } = await open().get('POST', `exports/${ids.exportId}/runs`)
      expect(await open().ended({ ...ids, runId: last.run_id })).toMatchObject({
        status: 'completed',
        records_total: 19,
        records_exported: 19,
      })
    }, 120_000)

    const cancelled = async (ids: { exportId: string; runId: string }) => {
      await open().ended(ids, ({ status }) => status === 'parked')
      await open().get('POST', `exports/${ids.exportId}/runs/${ids.runId}/cancel`)
      const run = await open().ended(ids)
      const { failures } = await open().get(
        'GET',
        `exports/${ids.exportId}/runs/${ids.runId}/failures`,
      )
      return { run, failures }
    }

    test('a run that is cancelled before anything is sent is refunded, counts every record and names none', async () => {
      const audience_id = await open().audienceOf(people(3, 't'))
      const closed = await startReceiver()
      const nowhere = await open().newIntegration(
        'webhook',
        { url: `${closed.url}/in` },
        { signing_secret: receiverSecret },
      )
      await closed.close()
      const before = await open().charged()
      const ids = await open().run({ audience_id, integration_id: nowhere, output_format: 'hem' })
      const { run, failures } = await cancelled(ids)
      expect(run).toMatchObject({
        status: 'failed',
        records_total: 3,
        records_failed: 3,
        records_charged: 0,
      })
      expect(failures.map(({ record }: { record: string | null }) => record)).toEqual([
        null,
        null,
        null,
      ])
      expect(await open().charged()).toBe(before)
    }, 120_000)

    test('what a receiver got stays charged, though it did not take it and the run was cancelled; a retry costs nothing', async () => {
      const audience_id = await open().audienceOf(people(3, 'g'))
      receiver.mishaps = [{ answer: { status: 429, headers: { 'retry-after': '3600' } } }]
      const before = await open().charged()
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      const { run, failures } = await cancelled(ids)
      expect(run).toMatchObject({
        status: 'failed',
        records_total: 3,
        records_failed: 3,
        records_charged: 3,
      })
      expect(failures.map(({ record }: { record: string }) => record).toSorted()).toEqual(
        [0, 1, 2].map((n) => hemOf(`g${n}@known.example`)).toSorted(),
      )
      const retry = await open().retry(ids)
      expect(await open().ended(retry)).toMatchObject({
        records_exported: 3,
        records_charged: 0,
      })
      expect(await open().charged()).toBe(before + 3)
    }, 120_000)

    test('records that the receiver refused are charged again when a retry sends them on a later day', async () => {
      const audience_id = await open().audienceOf(people(3, 'later'))
      receiver.mishaps = [{ answer: { status: 422 } }]
      const before = await open().charged()
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      const run = await open().ended(ids)
      expect(run).toMatchObject({ records_failed: 3, records_charged: 3 })
      await open().postgres.query('UPDATE build_charges SET day = day - 1 WHERE build_id = $1', [
        run.build_id,
      ])
      const retry = await open().retry(ids)
      expect(await open().ended(retry)).toMatchObject({
        records_exported: 3,
        records_charged: 3,
      })
      expect(await open().charged()).toBe(before + 6)
    }, 120_000)

    test('a run that a budget stopped counts every record and names only those that were paid; a retry sends the rest', async () => {
      const audience_id = await open().audienceOf(people(600, 'p'))
      const { organization_id } = open().service.demo
      const { rows } = await open().postgres.query<{ used: number }>(
        `SELECT coalesce(sum(records), 0)::int AS used FROM ledger
         WHERE organization_id = $1 AND meter = 'audience' AND day = (now() AT TIME ZONE 'UTC')::date`,
        [organization_id],
      )
      const limit = { meter: 'audience', daily_records: rows[0]!.used + 550, monthly_records: null }
      await open().get('PUT', 'billing/limits', { budgets: [], limits: [limit] })
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      const run = await open().ended(ids)
      await open().get('PUT', 'billing/limits', { budgets: [], limits: [] })
      const path = `exports/${ids.exportId}/runs/${ids.runId}`
      expect(run).toMatchObject({
        status: 'failed',
        records_total: 600,
        records_exported: 500,
        records_failed: 100,
        records_duplicated: 0,
        records_charged: 500,
      })
      const { failures } = await open().get('GET', `${path}/failures?limit=200`)
      expect(failures).toHaveLength(100)
      expect(new Set(failures.map(({ record }: { record: null }) => record))).toEqual(
        new Set([null]),
      )
      const { runs } = await open().get('GET', `exports/${ids.exportId}/runs`)
      expect(runs).toEqual([run])
      const messages = await open().postgres.query(
        `SELECT data FROM outbox_messages WHERE type = 'export.run_ended' AND data ->> 'run_id' = $1`,
        [ids.runId],
      )
      expect(messages.rows).toEqual([
        { data: expect.objectContaining({ records_total: 600, records_failed: 100 }) },
      ])
      const retry = await open().retry(ids)
      expect(await open().ended(retry)).toMatchObject({
        status: 'completed',
        records_total: 100,
        records_exported: 100,
      })
    }, 120_000)

    test('while it runs, a run counts the records that have an outcome', async () => {
      // A window of eight messages, and a hundred records more.
      const audience_id = await open().audienceOf(people(4_100, 'paid'))
      const waits = { answer: { status: 429, headers: { 'retry-after': '3600' } } }
      receiver.mishaps = [...Array<null>(8).fill(null), waits]
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      expect(await open().ended(ids, ({ status }) => status === 'parked')).toMatchObject({
        records_total: 4_000,
        records_exported: 4_000,
      })
      await open().get('POST', `exports/${ids.exportId}/runs/${ids.runId}/cancel`)
      // The receiver had the others, too: they stay charged.
      expect(await open().ended(ids)).toMatchObject({
        status: 'failed',
        records_total: 4_100,
        records_failed: 100,
        records_charged: 4_100,
      })
    }, 120_000)

    test('the log of requests has the charges of a run under the request that started it', async () => {
      const audience_id = await open().audienceOf(people(1_100, 'log'))
      const { api_key, api_secret, project_id } = open().service.demo
      const { export: made } = await open().get('POST', 'exports', {
        project_id,
        name: 'Logged',
        ...{ audience_id, integration_id, output_format: 'hem' },
      })
      const answer = await fetch(`${open().service.url}/api/v1/exports/${made.id}/runs`, {
        method: 'POST',
        headers: { 'x-api-key': api_key, 'x-api-secret': api_secret },
      })
      const { run } = (await answer.json()) as { run: { run_id: string } }
      const ended = await open().ended({ exportId: made.id, runId: run.run_id })
      expect(ended).toMatchObject({ records_charged: 1_100 })
      const requestId = answer.headers.get('x-request-id')!
      const logged = await waitFor('the log', async () => {
        const { requests } = await open().get('GET', `requests?request_id=${requestId}`)
        return requests[0]
      })
      expect(logged).toMatchObject({
        request_id: requestId,
        meter: 'audience',
        records: 1_100,
        route: '/api/v1/exports/:export_id/runs',
      })
      const { requests } = await open().get('GET', `requests?charged=true&request_id=${requestId}`)
      const sum = requests.reduce((sum: number, one: { records: number }) => sum + one.records, 0)
      expect(sum).toBe(1_100)
    })

    test('with the free answers used up, a run shows its counters once it charges a record', async () => {
      const { organization_id } = open().service.demo
      const allow = (perDay: number | null) =>
        open().postgres.query(
          `INSERT INTO billing_accounts (organization_id, free_answers_per_day) VALUES ($1, $2)
           ON CONFLICT (organization_id) DO UPDATE SET free_answers_per_day = excluded.free_answers_per_day`,
          [organization_id, perDay],
        )
      const audience_id = await open().audienceOf(people(3, 'brake'))
      await allow(0)
      try {
        const before = await open().run({ audience_id, integration_id, output_format: 'hem' })
        expect(await open().ended(before)).toMatchObject({ records_total: 3, records_charged: 3 })
        const closed = await startReceiver()
        const nowhere = await open().newIntegration(
          'webhook',
          { url: `${closed.url}/in` },
          { signing_secret: receiverSecret },
        )
        await closed.close()
        const to = { integration_id: nowhere, output_format: 'hem' }
        const paid = await open().run({ audience_id, ...to })
        const parked = await open().ended(paid, ({ status }) => status === 'parked')
        expect(parked).not.toHaveProperty('records_total')
        await open().get('POST', `exports/${paid.exportId}/runs/${paid.runId}/cancel`)
        const run = await open().ended(paid)
        expect(run).toMatchObject({ status: 'failed', records_charged: 0 })
        for (const name of ['total', 'exported', 'failed', 'duplicated'])
          expect(run).not.toHaveProperty(`records_${name}`)
        const path = `exports/${paid.exportId}/runs/${paid.runId}`
        expect(await open().get('GET', `${path}/failures`)).toEqual({ failures: [] })
        expect((await open().get('POST', `${path}/retry`)).run.retry_of).toBe(paid.runId)
      } finally {
        await allow(null)
      }
    }, 120_000)

    test('after an error within a window only the messages without an answer are posted again', async () => {
      const audience_id = await open().audienceOf(people(1_700, 'n'))
      let isOver = false
      receiver.misbehave = ({ headers }) => {
        if (isOver || !String(headers['webhook-id']).endsWith('-1000')) return null
        isOver = true
        return { answer: { status: 503 } }
      }
      const run = await open().ended(
        await open().run({ audience_id, integration_id, output_format: 'hem' }),
      )
      receiver.misbehave = () => null
      expect(run).toMatchObject({ status: 'completed', records_exported: 1_700, records_failed: 0 })
      const posted = receiver.asked
        .map(({ headers }) => String(headers['webhook-id']))
        .filter((id) => id.startsWith(run.run_id))
      const messages = ['0', '500', '1000', '1000', '1500', 'ended']
      expect(posted.toSorted()).toEqual(
        messages.map((after) => `${run.run_id}-${after}`).toSorted(),
      )
      const records = received(run.run_id).flatMap(({ data }) => data.records ?? [])
      expect(new Set(records.map(({ hem }) => hem)).size).toBe(1_700)
    })

    test('a run that stops within a window counts the records that were received, and a retry sends the others', async () => {
      const audience_id = await open().audienceOf(people(1_700, 'm'))
      receiver.misbehave = ({ headers }) =>
        String(headers['webhook-id']).endsWith('-1000') ? { answer: { status: 410 } } : null
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      const run = await open().ended(ids)
      receiver.misbehave = () => null
      expect(run).toMatchObject({
        status: 'failed',
        records_total: 1_700,
        records_exported: 1_200,
        records_failed: 500,
      })
      const had = received(ids.runId).flatMap(({ data }) => data.records ?? [])
      expect(had).toHaveLength(1_200)
      const retry = await open().retry(ids)
      expect(await open().ended(retry)).toMatchObject({
        status: 'completed',
        records_exported: 500,
        records_charged: 0,
      })
      const others = received(retry.runId).flatMap(({ data }) => data.records ?? [])
      const all = [...had, ...others].map(({ hem }) => hem)
      expect([all.length, new Set(all).size]).toEqual([1_700, 1_700])
    })

    test('a cancelled run sends nothing more, and the end of every run is in the outbox once', async () => {
      const audience_id = await open().audienceOf(people(50, 'c'))
      receiver.mishaps = [{ answer: { status: 429, headers: { 'retry-after': '3600' } } }]
      const ids = await open().run({ audience_id, integration_id, output_format: 'hem' })
      const parked = await open().ended(ids, ({ status }) => status === 'parked')
      expect(Date.parse(parked.resumes_at)).toBeGreaterThan(Date.now() + 3_000_000)
      expect((await open().ask('DELETE', `exports/${ids.exportId}`)).status).toBe(409)
      await open().get('POST', `exports/${ids.exportId}/runs/${ids.runId}/cancel`)
      expect(await open().ended(ids)).toMatchObject({ status: 'failed', records_failed: 50 })
      const { failures } = await open().get(
        'GET',
        `exports/${ids.exportId}/runs/${ids.runId}/failures`,
      )
      // The receiver had them all, so they were charged and are named.
      expect(new Set(failures.map(({ record }: { record: string }) => record)).size).toBe(50)
      const { rows } = await open().postgres.query(
        `SELECT data FROM outbox_messages WHERE type = 'export.run_ended' AND data ->> 'run_id' = $1`,
        [ids.runId],
      )
      expect(rows).toEqual([
        { data: expect.objectContaining({ status: 'failed', records_total: 50 }) },
      ])
    })
  })
