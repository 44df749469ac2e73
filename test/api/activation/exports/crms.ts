import { Connection } from '@jsforce/jsforce-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Exports, hemOf } from '../../../harness/exports.ts'
import { waitFor } from '../../../harness/service.ts'
import {
  type HubSpot,
  hubspotToken,
  startHubSpot,
  tooMany,
} from '../../../harness/standIns/hubspot.ts'
import {
  limitExceeded,
  type Salesforce,
  salesforceApp,
  startSalesforce,
} from '../../../harness/standIns/salesforce.ts'

const person = (address: string, more: Record<string, unknown> = {}) => ({
  address,
  email: address,
  first_name: 'Ann',
  last_name: 'Lee',
  ...more,
})

export const hubspotTests = (open: () => Exports) =>
  describe('HubSpot', () => {
    let hubspot: HubSpot
    let integration_id: string
    const runOf = async (people: Parameters<Exports['audienceOf']>[0], more = {}) =>
      open().run({
        audience_id: await open().audienceOf(people),
        integration_id,
        output_format: 'crm',
        ...more,
      })
    const failuresOf = async (
      { exportId, runId }: { exportId: string; runId: string },
      query = '',
    ) => (await open().get('GET', `exports/${exportId}/runs/${runId}/failures${query}`)).failures
    beforeAll(async () => {
      hubspot = await startHubSpot()
      integration_id = await open().newIntegration(
        'hubspot',
        { api_base: hubspot.url },
        { access_token: hubspotToken },
      )
    })
    afterAll(() => hubspot?.close())

    test('a check says in plain words whether it works, with its fields; secrets are never answered', async () => {
      const { check } = await open().get('POST', `integrations/${integration_id}/check`)
      expect(check).toMatchObject({
        works: true,
        message: expect.stringContaining('Connected to HubSpot'),
      })
      expect(check.fields.map(({ name }: { name: string }) => name)).not.toContain('createdate')
      const wrong = await open().newIntegration(
        'hubspot',
        { api_base: hubspot.url },
        { access_token: 'pat-wrong-one' },
      )
      const { check: refused } = await open().get('POST', `integrations/${wrong}/check`)
      expect(refused).toMatchObject({
        works: false,
        fields: null,
        message: expect.stringMatching(/token/),
      })
      const all = JSON.stringify(await open().get('GET', 'integrations'))
      expect(all).not.toMatch(/pat-wrong|pat-test/)
      const { rows } = await open().postgres.query('SELECT sealed_secrets FROM integrations')
      expect(JSON.stringify(rows)).not.toMatch(/pat-/)
    })

    test('an answer that is larger than any may be is not taken apart, and the run says so', async () => {
      const large = { answer: { status: 200, body: { results: [], more: 'x'.repeat(2 ** 20) } } }
      hubspot.misbehave = ({ method }) => (method === 'POST' ? large : null)
      const run = await open().ended(await runOf([person('large@known.example')]))
      hubspot.misbehave = () => null
      expect(run).toMatchObject({ status: 'failed', records_failed: 1 })
      expect(run.error).toContain('more than 1048576 bytes')
      const results = Array.from({ length: 3_000 }, (_, n) => ({
        name: `f${n}`,
        label: 'x'.repeat(1_000),
      }))
      const fields = { answer: { status: 200, body: { results } } }
      // The check asks for them, and then they are read.
      hubspot.mishaps = [fields, fields]
      const { check } = await open().get('POST', `integrations/${integration_id}/check`)
      expect(check.fields).toHaveLength(3_000)
    })

    test('207: each record has its own outcome; a record that spoils a whole batch is found and fails alone', async () => {
      const ids = await runOf([
        ...Array.from({ length: 150 }, (_, n) => person(`h${n}@known.example`)),
        person('one@conflict.example'),
        { ...person('spoiled@known.example'), email: 'no address' },
        { ...person('twice@known.example'), email: 'h0@known.example' },
        { address: 'nobody@known.example' },
      ])
      const run = await open().ended(ids)
      expect(run).toMatchObject({
        status: 'completed',
        records_total: 154,
        records_exported: 150,
        records_failed: 3,
        records_duplicated: 1,
      })
      const reasons = Object.fromEntries(
        (await failuresOf(ids)).map(({ record, reason }: Record<string, string>) => [
          record,
          reason,
        ]),
      )
      expect(reasons[hemOf('one@conflict.example')]).toContain('belongs to another contact')
      expect(reasons[hemOf('spoiled@known.example')]).toContain('is invalid')
      // Never sent, so never charged: who it is is not told.
      expect(reasons.null).toContain('email is unknown')
      expect(await failuresOf(ids, '?outcome=duplicated')).toHaveLength(1)
      expect(hubspot.contacts.get('h7@known.example')!.properties).toMatchObject({
        firstname: 'Ann',
      })
    })

    test('a daily quota parks the run with the time at which it goes on; 429 without Retry-After waits', async () => {
      hubspot.misbehave = ({ method }) => (method === 'POST' ? { answer: tooMany.today } : null)
      const ids = await runOf([person('quota@known.example')])
      const parked = await open().ended(ids, ({ status }) => status === 'parked')
      expect(Date.parse(parked.resumes_at) - Date.now()).toBeGreaterThan(3_000_000)
      expect(parked.error).toContain('daily request limit')
      hubspot.misbehave = () => null
      await open().resume(ids)
      expect(await open().ended(ids)).toMatchObject({ status: 'completed', records_exported: 1 })
    })

    test('fields that HubSpot does not have are refused when a mapping is saved, and at the start of a run', async () => {
      const audience_id = await open().audienceOf(
        Array.from({ length: 25 }, (_, n) => person(`map${n}@known.example`)),
      )
      const body = {
        project_id: open().service.demo.project_id,
        name: 'E',
        audience_id,
        integration_id,
      }
      const refused = await open().ask('POST', 'exports', {
        ...body,
        output_format: 'crm',
        mapping: { email: 'email', shoe_size: 'age' },
      })
      expect(refused).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('"shoe_size"') },
      })
      const ids = await open().run({
        ...body,
        output_format: 'crm',
        mapping: { email: 'email', jobtitle: 'job_title' },
      })
      await open().ended(ids)
      await open().postgres.query(
        `UPDATE exports SET mapping = '{"email":"email","gone":"age"}' WHERE export_id = $1`,
        [ids.exportId],
      )
      const { run } = await open().get('POST', `exports/${ids.exportId}/runs`)
      const ended = await open().ended({ ...ids, runId: run.run_id })
      expect(ended).toMatchObject({ status: 'failed', records_failed: 25, records_charged: 0 })
      expect(ended.error).toContain('"gone"')
    })

    test('an export is saved while HubSpot is unreachable; check and run report why at once', async () => {
      const gone = await startHubSpot()
      await gone.close()
      const unreachable = await open().newIntegration(
        'hubspot',
        { api_base: gone.url },
        { access_token: hubspotToken },
      )
      const reason = expect.stringContaining('No connection to 127.0.0.1')
      const audience_id = await open().audienceOf([person('later@known.example')])
      const body = {
        project_id: open().service.demo.project_id,
        name: 'E',
        audience_id,
        integration_id: unreachable,
        output_format: 'crm',
      }
      const made = await open().ask('POST', 'exports', body)
      expect(made).toMatchObject({ status: 201 })
      const exportId = made.body.export.id
      const mapping = { email: 'email', firstname: 'first_name' }
      expect(await open().ask('PATCH', `exports/${exportId}`, { mapping })).toMatchObject({
        status: 200,
      })
      const { check } = await open().get('POST', `integrations/${unreachable}/check`)
      expect(check).toMatchObject({ works: false, message: reason })
      const { run } = await open().get('POST', `exports/${exportId}/runs`)
      const ids = { exportId, runId: run.run_id }
      const parked = await open().ended(ids, ({ status }) => status === 'parked')
      expect(parked).toMatchObject({ error: reason, ended_at: null })
      await open().get('PATCH', `integrations/${unreachable}`, {
        settings: { api_base: hubspot.url },
        secrets: { access_token: hubspotToken },
      })
      expect(await open().ended(ids)).toMatchObject({
        status: 'completed',
        error: null,
        records_exported: 1,
      })
    })

    test('an export is refused while HubSpot does not accept the token', async () => {
      const wrong = await open().newIntegration(
        'hubspot',
        { api_base: hubspot.url },
        { access_token: 'pat-wrong-two' },
      )
      const audience_id = await open().audienceOf([person('token@known.example')])
      const refused = await open().ask('POST', 'exports', {
        project_id: open().service.demo.project_id,
        name: 'E',
        audience_id,
        integration_id: wrong,
        output_format: 'crm',
      })
      expect(refused).toMatchObject({
        status: 409,
        body: { error: 'conflict', code: 'invalid_state', message: expect.stringMatching(/token/) },
      })
    })

    test('who opts out is archived, where the export made the contact', async () => {
      hubspot.contacts.set('own@known.example', { id: '1', properties: {}, isArchived: false })
      await open().ended(await runOf([person('own@known.example'), person('ours@known.example')]))
      for (const address of ['own@known.example', 'ours@known.example'])
        await open().get('POST', 'privacy/opt-outs', { hem: hemOf(address) })
      await open().postgres.query("SELECT pg_notify('footfall_jobs', 'exports.removals')")
      await waitFor(
        'the removal',
        () => hubspot.contacts.get('ours@known.example')!.isArchived,
        55_000,
      )
      expect(hubspot.contacts.get('own@known.example')!.isArchived).toBe(false)
    }, 120_000)
  })

export const salesforceTests = (open: () => Exports) =>
  describe('Salesforce', () => {
    let salesforce: Salesforce
    let integration_id: string
    beforeAll(async () => {
      salesforce = await startSalesforce()
      integration_id = await open().newIntegration(
        'salesforce',
        { instance_url: salesforce.url },
        salesforceApp,
      )
    })
    afterAll(() => salesforce?.close())

    test('the stand-in is one that jsforce can drive', async () => {
      const connection = new Connection({
        instanceUrl: salesforce.url,
        accessToken: 'session-0',
        version: '62.0',
      })
      const job = connection.bulk2.createJob({
        object: 'Contact',
        operation: 'upsert',
        externalIdFieldName: 'Email',
      })
      await job.open()
      await job.uploadData([
        { Email: 'j1@known.example', LastName: 'Good' },
        { Email: 'j2@known.example', LastName: 'Bad' },
      ])
      await job.close()
      await job.poll(50, 10_000)
      const { successfulResults, failedResults, unprocessedRecords } = await job.getAllResults()
      expect(successfulResults).toMatchObject([{ Email: 'j1@known.example', sf__Created: 'true' }])
      expect(failedResults).toMatchObject([{ Email: 'j2@known.example' }])
      expect(unprocessedRecords).toEqual([])
    })

    test('the results of a job that is complete are read back: each row has its own outcome', async () => {
      salesforce.endSessions()
      const audience_id = await open().audienceOf([
        ...Array.from({ length: 40 }, (_, n) => person(`s${n}@known.example`)),
        person('bad@known.example', { last_name: 'Bad' }),
        person('locked@known.example', { last_name: 'Locked' }),
      ])
      const ids = await open().run({ audience_id, integration_id, output_format: 'crm' })
      const run = await open().ended(ids)
      expect(run).toMatchObject({ status: 'completed', records_exported: 40, records_failed: 2 })
      const { failures } = await open().get(
        'GET',
        `exports/${ids.exportId}/runs/${ids.runId}/failures`,
      )
      expect(
        Object.fromEntries(
          failures.map((failure: Record<string, string>) => [failure.record, failure.class]),
        ),
      ).toEqual({
        [hemOf('bad@known.example')]: 'never',
        [hemOf('locked@known.example')]: 'retry',
      })
      expect(salesforce.records.get('s3@known.example')).toMatchObject({
        FirstName: 'Ann',
        LastName: 'Lee',
      })
    })

    test('rows that a job did not come to are not taken for done; its limit parks the run; a job is gone on with', async () => {
      const audience_id = await open().audienceOf([
        person('u1@known.example', { last_name: 'Stop' }),
        person('u2@known.example', { last_name: 'Stop' }),
      ])
      const before = salesforce.jobs.length
      // The last request was processed, but the job's state is unknown.
      let states = 0
      salesforce.misbehave = ({ method, url }) => {
        if (method !== 'GET' || !/ingest\/[^/]+$/.test(url.pathname)) return null
        states++
        return states === 1 ? { dies: 'after' } : states === 2 ? { answer: limitExceeded } : null
      }
      const ids = await open().run({ audience_id, integration_id, output_format: 'crm' })
      await open().ended(
        ids,
        ({ status, resumes_at }) =>
          status === 'parked' && Date.parse(resumes_at) > Date.now() + 1e6,
      )
      await open().resume(ids)
      expect(await open().ended(ids)).toMatchObject({ status: 'completed', records_failed: 2 })
      expect(salesforce.jobs.length).toBe(before + 1)
      salesforce.misbehave = () => null
    })
  })
