import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunState } from '../../../../collector/activation/exports/run/runState.ts'
import { requireDailyMax } from '../../../../collector/activation/exports/run/step.ts'
import type { Exports } from '../../../harness/exports.ts'
import { type Receiver, receiverSecret, startReceiver } from '../../../harness/standIns/receiver.ts'

export const recordTests = (open: () => Exports) =>
  describe('integrations and exports as records', () => {
    let receiver: Receiver
    let integration_id: string
    let audience_id: string
    beforeAll(async () => {
      receiver = await startReceiver()
      integration_id = await open().newIntegration(
        'webhook',
        { url: receiver.url },
        { signing_secret: receiverSecret },
      )
      audience_id = await open().audienceOf([{ address: 'records@known.example' }])
    })
    afterAll(() => receiver?.close())

    const create = (more: Record<string, unknown>) =>
      open().ask('POST', 'exports', {
        project_id: open().service.demo.project_id,
        name: 'E',
        audience_id,
        integration_id,
        ...more,
      })

    test('settings and secrets of a type are checked by name, and no address leads inside the network', async () => {
      const { project_id } = open().service.demo
      const make = (type: string, settings: object, secrets: object) =>
        open().ask('POST', 'integrations', { project_id, type, name: 'I', settings, secrets })
      const wrong = [
        [await make('webhook', {}, { signing_secret: receiverSecret }), /settings.*url/],
        [
          await make('webhook', { url: receiver.url, more: 1 }, { signing_secret: receiverSecret }),
          /more/,
        ],
        [
          await make('webhook', { url: receiver.url }, { signing_secret: 'short' }),
          /signing_secret/,
        ],
        [
          await make(
            'webhook',
            { url: 'http://169.254.169.254/' },
            { signing_secret: receiverSecret },
          ),
          /url/,
        ],
        [
          await make('webhook', { url: 'http://[::1]:9/' }, { signing_secret: receiverSecret }),
          /url/,
        ],
        [
          await make(
            's3',
            { endpoint: 'http://10.0.0.1', bucket: 'abc' },
            { access_key_id: 'a', secret_access_key: 'b' },
          ),
          /endpoint/,
        ],
        [await make('fax', {}, {}), /type/],
      ] as const
      for (const [answer, message] of wrong) {
        expect(answer).toMatchObject({
          status: 400,
          body: { message: expect.stringMatching(message) },
        })
        expect(JSON.stringify(answer.body)).not.toContain('short')
      }
    })

    test('a check by GET answers as one by POST does, and says that it is deprecated', async () => {
      const { api_key, api_secret } = open().service.demo
      const checkBy = (method: string) =>
        fetch(`${open().service.url}/api/v1/integrations/${integration_id}/check`, {
          method,
          headers: { 'x-api-key': api_key, 'x-api-secret': api_secret },
        })
      const [byGet, byPost] = [await checkBy('GET'), await checkBy('POST')]
      expect(byGet.headers.get('deprecation')).toMatch(/^@\d+$/)
      expect(byPost.headers.get('deprecation')).toBeNull()
      const { check: expected } = (await byPost.json()) as { check: object }
      expect(await byGet.json()).toEqual({
        check: { ...expected, checked_at: expect.any(String) },
      })
      const answer = await fetch(`${open().service.url}/openapi.json`)
      const document = (await answer.json()) as {
        paths: Record<string, Record<'get' | 'post', { deprecated?: true }>>
      }
      const { get, post } = document.paths['/api/v1/integrations/{integration_id}/check']!
      expect([get.deprecated, post.deprecated]).toEqual([true, undefined])
    })

    test('an address changes only together with the secrets that are sent there', async () => {
      const change = (body: object) => open().ask('PATCH', `integrations/${integration_id}`, body)
      const elsewhere = { settings: { url: `${receiver.url}/elsewhere` } }
      expect(await change(elsewhere)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('secrets') },
      })
      expect(
        (await change({ ...elsewhere, secrets: { signing_secret: receiverSecret } })).status,
      ).toBe(200)
      expect((await change({ name: 'Renamed', version: 1 })).status).toBe(409)
      expect((await change({ name: 'Renamed', version: 2 })).body.integration.name).toBe('Renamed')
    })

    test('formats are for their destinations alone: 400 at creation and at update', async () => {
      for (const output_format of ['ip_address', 'company_domain'])
        expect(await create({ output_format })).toMatchObject({
          status: 400,
          body: { parameter: 'output_format', message: expect.stringContaining('DSP') },
        })
      expect(await create({ output_format: 'crm' })).toMatchObject({ status: 400 })
      expect(await create({ output_format: 'hem', integration_type: 'hubspot' })).toMatchObject({
        status: 400,
        body: { parameter: 'integration_type' },
      })
      expect(
        await create({ output_format: 'ndjson', mapping: { x: 'no_such_field' } }),
      ).toMatchObject({
        status: 400,
      })
      expect(
        await create({ output_format: 'ndjson', mapping: { 'x` FROM y': 'email' } }),
      ).toMatchObject({
        status: 400,
      })
      expect(await create({ output_format: 'hem', mapping: { x: 'email' } })).toMatchObject({
        status: 400,
      })
      expect(
        await create({ output_format: 'hem', integration_id: crypto.randomUUID() }),
      ).toMatchObject({
        status: 400,
        body: { parameter: 'integration_id' },
      })
      const made = await create({ output_format: 'hem' })
      expect(made.status).toBe(201)
      const path = `exports/${made.body.export.id}`
      expect((await open().ask('PATCH', path, { output_format: 'ip_address' })).status).toBe(400)
      expect(
        (await open().ask('PATCH', path, { output_format: 'ndjson', schedule: 'daily' })).body
          .export,
      ).toMatchObject({
        output_format: 'ndjson',
        schedule: 'daily',
        version: 2,
      })
      expect((await open().ask('DELETE', path)).status).toBe(204)
    })

    test('an audience and an integration that an export uses stay, and it is named', async () => {
      const { body } = await create({ output_format: 'hem', name: 'The user' })
      for (const path of [`audiences/${audience_id}`, `integrations/${integration_id}`]) {
        expect(await open().ask('DELETE', path)).toMatchObject({
          status: 409,
          body: { used_by: [{ export_id: body.export.id, name: 'The user' }] },
        })
      }
      await open().get('DELETE', `exports/${body.export.id}`)
    })

    test('another organization and another project’s key find nothing', async () => {
      const { body } = await create({ output_format: 'hem' })
      const paths = [
        `integrations/${integration_id}`,
        `exports/${body.export.id}`,
        `exports/${body.export.id}/runs`,
      ]
      const { test_api_key, test_api_secret } = open().service.demo
      for (const path of paths)
        expect(
          (
            await open().ask('GET', path, undefined, {
              'x-api-key': test_api_key,
              'x-api-secret': test_api_secret,
            })
          ).status,
        ).toBe(404)
      await open().get('DELETE', `exports/${body.export.id}`)
    })

    test('an export with a schedule is run by itself, also when an earlier run was just retried', async () => {
      const made = await create({ output_format: 'hem', schedule: 'hourly' })
      const exportId = made.body.export.id
      let runId = ''
      const runAfter = async (last: string) => {
        await open().postgres.query("SELECT pg_notify('footfall_jobs', 'exports.runs')")
        await expect
          .poll(
            async () => {
              runId = (await open().get('GET', `exports/${exportId}/runs`)).runs[0]?.run_id ?? ''
              return runId
            },
            { timeout: 50_000 },
          )
          .not.toBe(last)
        expect(await open().ended({ exportId, runId })).toMatchObject({
          status: 'completed',
          records_exported: 1,
        })
      }
      await runAfter('')
      const { run: retry } = await open().get('POST', `exports/${exportId}/runs`)
      await open().ended({ exportId, runId: retry.run_id })
      // As if the first run were an hour old, and the second one its retry.
      await open().postgres.query(
        `UPDATE export_runs SET retry_of = CASE WHEN run_id = $2 THEN $1::uuid END,
           requested_at = requested_at - CASE WHEN run_id = $1 THEN interval '61 minutes' ELSE '0' END
         WHERE run_id IN ($1, $2)`,
        [runId, retry.run_id],
      )
      await runAfter(retry.run_id)
      await open().get('PATCH', `exports/${exportId}`, { schedule: 'manual' })
    })

    test('a scheduled run stops at the daily maximum, a requested one does not', async () => {
      const { postgres, get, ended } = open()
      const made = await create({ output_format: 'hem', daily_records_max: 5 })
      const exportId = made.body.export.id
      expect(made.body.export.daily_records_max).toBe(5)
      await postgres.query('UPDATE exports SET daily_records_max = 0 WHERE export_id = $1', [
        exportId,
      ])
      const { run } = await get('POST', `exports/${exportId}/runs`)
      expect(await ended({ exportId, runId: run.run_id })).toMatchObject({ status: 'completed' })
      // As the schedule requests it.
      await postgres.query(
        "UPDATE export_runs SET requested_at = now() - interval '61 minutes' WHERE run_id = $1",
        [run.run_id],
      )
      await get('PATCH', `exports/${exportId}`, { schedule: 'hourly' })
      await postgres.query("SELECT pg_notify('footfall_jobs', 'exports.runs')")
      let runId = run.run_id
      await expect
        .poll(
          async () => {
            runId = (await get('GET', `exports/${exportId}/runs`)).runs[0].run_id
            return runId
          },
          { timeout: 50_000 },
        )
        .not.toBe(run.run_id)
      expect(await ended({ exportId, runId })).toMatchObject({
        status: 'failed',
        records_charged: 0,
        error: expect.stringContaining('at most 0 records a UTC day (daily_records_max)'),
      })
      const { rows } = await postgres.query(
        'SELECT daily_max_noted_on IS NOT NULL AS is_noted FROM exports WHERE export_id = $1',
        [exportId],
      )
      expect(rows).toEqual([{ is_noted: true }])
      await get('PATCH', `exports/${exportId}`, { schedule: 'manual' })
    })

    test('the daily maximum counts the charges of the day, also of a run that began before midnight', async () => {
      const { postgres, service } = open()
      const { organization_id: organizationId } = service.demo
      const made = await create({ output_format: 'hem', daily_records_max: 5 })
      const exportId = made.body.export.id
      const charge = (day: string) =>
        postgres.query(
          `INSERT INTO usage_by_caller
           VALUES ($1, (now() AT TIME ZONE 'UTC')::date + $2::int, $3, $4, 'audience', 5, 0, 0)`,
          [organizationId, day, exportId, service.demo.project_id],
        )
      const run = { exportId, exportName: 'E', organizationId, requestedBy: exportId } as RunState
      await charge('-1')
      await requireDailyMax(postgres, run, 5)
      await charge('0')
      await expect(requireDailyMax(postgres, run, 1)).rejects.toThrow('have charged 5 today')
    })
  })
