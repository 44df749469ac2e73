import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newApiCredentials, storeApiKey } from '../../../../collector/accounts/keys/apiKeys.ts'
import type { Exports } from '../../../harness/exports.ts'
import { storeProject } from '../../../harness/owners.ts'
import { type Receiver, receiverSecret, startReceiver } from '../../../harness/standIns/receiver.ts'

/** Spec: Project-scoped key behavior, of /api/v1/exports* and /api/v1/integrations*. */
export const projectKeyTests = (open: () => Exports) =>
  describe('a key of one project', () => {
    let receiver: Receiver
    let projectId: string
    let key: Record<string, string>
    let own: { integration: string; export: string }
    let others: { integration: string; export: string; run: string }
    const settings = () => ({ url: `${receiver.url}/in` })
    const secrets = { signing_secret: receiverSecret }
    const ask = (method: string, path: string, body?: unknown) =>
      open().ask(method, path, body, key)

    beforeAll(async () => {
      receiver = await startReceiver()
      const { organization_id: organizationId } = open().service.demo
      projectId = randomUUID()
      await storeProject(open().postgres, projectId, organizationId, 'Own')
      const credentials = newApiCredentials('live')
      await storeApiKey(open().postgres, { organizationId, projectId }, 'live', 'Own', credentials)
      key = { 'x-api-key': credentials.apiKey, 'x-api-secret': credentials.apiSecret }
      const audience_id = await open().audienceOf([{ address: 'others@known.example' }])
      const integration = await open().newIntegration('webhook', settings(), secrets)
      const ids = await open().run({
        audience_id,
        integration_id: integration,
        output_format: 'hem',
      })
      await open().ended(ids)
      others = { integration, export: ids.exportId, run: ids.runId }
    }, 120_000)
    afterAll(() => receiver?.close())

    test('without project_id is answered for its project, and writes to it', async () => {
      const made = await ask('POST', 'integrations', {
        type: 'webhook',
        name: 'I',
        settings: settings(),
        secrets,
      })
      expect(made).toMatchObject({ status: 201, body: { integration: { project_id: projectId } } })
      const { audience } = (
        await ask('POST', `audiences?project_id=${projectId}`, {
          name: 'Nobody',
          definition: {
            entity: 'people',
            include: { profile: { field: 'company_name', op: 'eq', value: randomUUID() } },
          },
        })
      ).body
      const integration_id = made.body.integration.id
      const exported = await ask('POST', 'exports', {
        name: 'E',
        audience_id: audience.id,
        integration_id,
        output_format: 'hem',
      })
      expect(exported).toMatchObject({ status: 201, body: { export: { project_id: projectId } } })
      own = { integration: integration_id, export: exported.body.export.id }
      for (const query of ['', `?project_id=${projectId}`]) {
        const listed = await Promise.all([
          ask('GET', `integrations${query}`),
          ask('GET', `exports${query}`),
        ])
        expect(listed).toMatchObject([
          { status: 200, body: { integrations: [{ id: own.integration }] } },
          { status: 200, body: { exports: [{ id: own.export }] } },
        ])
      }
      expect((await ask('POST', `integrations/${own.integration}/check`)).body.check.works).toBe(
        true,
      )
      expect((await ask('GET', `exports/${own.export}/runs`)).body.runs).toEqual([])
    })

    test('a check sends, so a key that may only read has none', async () => {
      const { organization_id: organizationId } = open().service.demo
      const { apiKey, apiSecret } = newApiCredentials('live')
      const credentials = { apiKey, apiSecret }
      const making = { keyId: randomUUID(), role: 'read', maker: null } as const
      await storeApiKey(
        open().postgres,
        { organizationId, projectId },
        'live',
        'Reads',
        credentials,
        making,
      )
      const reader = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
      const before = receiver.asked.length
      const path = `integrations/${own.integration}`
      expect((await open().ask('GET', path, undefined, reader)).status).toBe(200)
      for (const method of ['GET', 'POST'])
        expect(await open().ask(method, `${path}/check`, undefined, reader)).toMatchObject({
          status: 403,
          body: { message: 'Read-only keys cannot change anything.' },
        })
      expect(receiver.asked).toHaveLength(before)
    })

    test('the filters campaign_id and audience_id are 403; a key of the organization has them', async () => {
      for (const path of ['integrations', 'exports']) {
        for (const filter of ['campaign_id', 'audience_id']) {
          const query = `${path}?${filter}=${randomUUID()}`
          expect((await ask('GET', query)).status).toBe(403)
          expect(await open().ask('GET', query)).toMatchObject({
            status: 200,
            body: { [path]: [] },
          })
        }
      }
      const { rows } = await open().postgres.query<{ audience_id: string }>(
        'SELECT audience_id FROM exports WHERE export_id = $1',
        [others.export],
      )
      const { audience_id } = rows[0]!
      const { campaign } = await open().get('POST', 'campaigns', {
        project_id: open().service.demo.project_id,
        name: 'C',
        start_date: '2026-01-01',
        audience_id,
      })
      for (const filter of [`audience_id=${audience_id}`, `campaign_id=${campaign.campaign_id}`]) {
        expect((await open().get('GET', `exports?${filter}`)).exports).toMatchObject([
          { id: others.export },
        ])
        expect((await open().get('GET', `integrations?${filter}`)).integrations).toMatchObject([
          { id: others.integration },
        ])
      }
    })

    test('a record of another project cannot be named in a body', async () => {
      for (const named of [
        { audience_id: randomUUID(), integration_id: others.integration },
        { list_id: randomUUID(), integration_id: own.integration },
      ])
        expect(
          (await ask('POST', 'exports', { name: 'X', output_format: 'hem', ...named })).status,
        ).toBe(400)
    })
  })
