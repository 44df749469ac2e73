import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Exports, hemOf } from '../../../harness/exports.ts'
import { waitFor } from '../../../harness/service.ts'
import { type Receiver, receiverSecret, startReceiver } from '../../../harness/standIns/receiver.ts'

export const listTests = (open: () => Exports) =>
  describe('exports of lists', () => {
    let receiver: Receiver
    let integration_id: string
    let listId: string
    const hems = ['known', 'unknown', 'other'].map((name) => hemOf(`${name}@list.example`))

    const imported = async (started: {
      list: { id: string }
      import: { id: string }
    }): Promise<string> => {
      await waitFor(
        'the import',
        async () => {
          const path = `lists/${started.list.id}/imports/${started.import.id}`
          return (await open().get('GET', path)).import.status === 'completed'
        },
        50_000,
      )
      return started.list.id
    }
    const newList = async (kind: string, items: string[]) =>
      imported(
        await open().get('POST', 'lists', {
          project_id: open().service.demo.project_id,
          name: 'Sent',
          kind,
          items,
        }),
      )
    const sent = (runId: string) =>
      [...receiver.messages.values()]
        .filter(({ data }) => data.run_id === runId)
        .flatMap(({ data }) => data.records ?? [])

    beforeAll(async () => {
      receiver = await startReceiver()
      integration_id = await open().newIntegration(
        'webhook',
        { url: receiver.url },
        { signing_secret: receiverSecret },
      )
      await open().audienceOf([
        { address: 'known@list.example', email: 'known@list.example', first_name: 'Ann' },
      ])
      listId = await newList('hems', hems)
    })
    afterAll(() => receiver?.close())

    test('a run sends everybody in the list as it is, known or not, and what is read again that day is free', async () => {
      const mapping = { id: 'hem', given: 'first_name' }
      const ids = await open().run({
        list_id: listId,
        integration_id,
        output_format: 'ndjson',
        mapping,
      })
      expect(await open().ended(ids)).toMatchObject({
        status: 'completed',
        records_total: 3,
        records_exported: 3,
        records_charged: 3,
      })
      const expected = hems.map((id, index) => (index === 0 ? { id, given: 'Ann' } : { id }))
      const byId = (a: { id?: unknown }, b: { id?: unknown }) =>
        String(a.id) < String(b.id) ? -1 : 1
      expect(sent(ids.runId).toSorted(byId)).toEqual(expected.toSorted(byId))
      const { run: again } = await open().get('POST', `exports/${ids.exportId}/runs`)
      expect(await open().ended({ ...ids, runId: again.run_id })).toMatchObject({
        records_exported: 3,
        records_charged: 0,
      })
      const added = hemOf('added@list.example')
      await imported(await open().get('POST', `lists/${listId}/items`, { items: [added] }))
      await open().get('DELETE', `lists/${listId}/items`, { items: [hems[2]!] })
      const { run: later } = await open().get('POST', `exports/${ids.exportId}/runs`)
      expect(await open().ended({ ...ids, runId: later.run_id })).toMatchObject({
        records_exported: 3,
      })
      expect(new Set(sent(later.run_id).map(({ id }) => id))).toEqual(
        new Set([...hems.slice(0, 2), added]),
      )
    }, 120_000)

    test('a list that an export sends stays, and nobody sees an audience of it', async () => {
      const { export: made } = await open().get('POST', 'exports', {
        project_id: open().service.demo.project_id,
        name: 'The sender',
        list_id: listId,
        integration_id,
        output_format: 'hem',
      })
      expect(made).toMatchObject({ list_id: listId, audience_id: null })
      const refused = await open().ask('DELETE', `lists/${listId}`)
      expect(refused.status).toBe(409)
      expect(refused.body.used_by).toContainEqual({ export_id: made.id, name: 'The sender' })
      const { rows } = await open().postgres.query<{ audience_id: string }>(
        'SELECT audience_id FROM audiences WHERE list_id = $1',
        [listId],
      )
      const project = `project_id=${open().service.demo.project_id}`
      const { audiences } = await open().get('GET', `audiences?${project}&limit=200`)
      const hidden = rows[0]!.audience_id
      expect(audiences.map(({ id }: { id: string }) => id)).not.toContain(hidden)
      for (const path of ['', '/status', '/records', '/download'])
        expect((await open().ask('GET', `audiences/${hidden}${path}?${project}`)).status).toBe(404)
      const { rows: told } = await open().postgres.query(
        "SELECT FROM outbox_messages WHERE type = 'audience.built' AND data ->> 'audience_id' = $1",
        [hidden],
      )
      expect(told).toHaveLength(0)
      const { exports } = await open().get('GET', 'exports?limit=200')
      for (const { id, list_id } of exports)
        if (list_id === listId) await open().get('DELETE', `exports/${id}`)
      expect((await open().ask('DELETE', `lists/${listId}`)).status).toBe(204)
    }, 120_000)

    test('a list of domains is of companies, and one of another project is none', async () => {
      const domains = await newList('domains', ['list.example'])
      const create = (body: object) =>
        open().ask('POST', 'exports', {
          project_id: open().service.demo.project_id,
          name: 'E',
          integration_id,
          ...body,
        })
      expect(await create({ list_id: domains, output_format: 'hem' })).toMatchObject({
        status: 400,
        body: { parameter: 'output_format', message: expect.stringContaining('companies') },
      })
      for (const wrong of [
        { list_id: crypto.randomUUID() },
        {},
        { list_id: domains, audience_id: domains },
      ])
        expect((await create({ ...wrong, output_format: 'ndjson' })).status).toBe(400)
      const ids = await open().run({ list_id: domains, integration_id, output_format: 'ndjson' })
      expect(await open().ended(ids)).toMatchObject({ status: 'completed', records_exported: 1 })
      expect(sent(ids.runId)).toEqual([{ company_domain: 'list.example' }])
    }, 120_000)
  })
