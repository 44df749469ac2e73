/** Messages on their way to receivers that work, and to those that do not. */
import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWebhooks, patienceMs } from './harness.ts'
import type { Received } from './receiver.ts'

let it: Awaited<ReturnType<typeof openWebhooks>>
beforeAll(async () => {
  it = await openWebhooks()
})
afterAll(() => it.close())

const verify = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>)

describe('a message', () => {
  test('arrives signed, as the library of Standard Webhooks checks it, and the log says so', async () => {
    const { webhook, secret } = await it.create('/signed')
    await it.happen({ data: { audience_id: 'a', count: 7, name: 'Größe' } })
    const [arrived] = await it.arrivals('/signed')
    expect(verify(secret, arrived!)).toEqual({
      type: 'audience.built',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      data: { audience_id: 'a', count: 7, name: 'Größe' },
    })
    expect(arrived!.headers['content-type']).toBe('application/json')
    expect(await it.delivery(webhook.id, ({ status }) => status === 'delivered')).toMatchObject({
      message_id: arrived!.headers['webhook-id'],
      type: 'audience.built',
      attempts: 1,
      response_status: 200,
      response_body: 'thanks',
      error: null,
      next_attempt_at: null,
    })
  })

  test('goes to who wants its type, of its project or of the whole organization', async () => {
    await it.create('/whole', { event_types: ['pixel.silent', 'list.imported'] })
    await it.create('/project', { event_types: ['list.imported'], project_id: it.projectId })
    const switchedOff = await it.create('/off', { event_types: ['list.imported'], enabled: false })
    await it.happen({ type: 'list.imported', projectId: it.projectId, data: { n: 1 } })
    await it.happen({ type: 'list.imported', data: { n: 2 } })
    await it.happen({ type: 'pixel.silent', projectId: it.projectId, data: { n: 3 } })
    const dataOf = (received: Received[]) =>
      received.map(({ body }) => JSON.parse(body).data.n).sort()
    expect(dataOf(await it.arrivals('/whole', 3))).toEqual([1, 2, 3])
    expect(dataOf(await it.arrivals('/project'))).toEqual([1])
    expect(await it.deliveriesOf(switchedOff.webhook.id)).toEqual([])
  })

  test('of a transaction that is rolled back is never sent', async () => {
    await it.create('/rolled-back', { event_types: ['export.run_ended'] })
    // The type cannot be stored: everything of that transaction is undone.
    const nobody = it.happen({ type: 'export.run_ended', organizationId: randomUUID() })
    await expect(nobody).rejects.toThrow()
    await it.happen({ type: 'export.run_ended', data: { real: true } })
    const arrived = await it.arrivals('/rolled-back')
    expect(arrived.map(({ body }) => JSON.parse(body).data)).toEqual([{ real: true }])
  })

  test('is signed with both secrets for a day after one is rotated', async () => {
    const { webhook, secret } = await it.create('/rotated')
    const { body: rotated } = await it.ask(`POST /api/v1/webhooks/${webhook.id}/secret/rotate`)
    expect(rotated.webhook.former_secret_until).not.toBeNull()
    await it.happen()
    const [arrived] = await it.arrivals('/rotated')
    verify(secret, arrived!)
    verify(rotated.secret, arrived!)
    await it.postgres.query(
      'UPDATE webhooks SET former_secret_until = now() WHERE webhook_id = $1',
      [webhook.id],
    )
    await it.happen()
    const [, later] = await it.arrivals('/rotated', 2)
    verify(rotated.secret, later!)
    expect(() => verify(secret, later!)).toThrow()
  })
})

describe('a receiver that misbehaves', () => {
  test.each([
    [
      '/500',
      { response_status: 500, response_body: 'it broke here', error: 'The receiver answered 500.' },
    ],
    ['/redirect', { response_status: 307, error: 'The receiver answered 307.' }],
    ['/closes', { response_status: null, error: expect.stringContaining('closed the connection') }],
  ])('%s: is tried again, and the log says why', async (path, expected) => {
    const { webhook } = await it.create(path)
    await it.happen()
    const tried = await it.delivery(webhook.id, ({ attempts }) => Number(attempts) > 0)
    expect(tried).toMatchObject({ status: 'pending', ...expected })
    expect(Date.parse(tried.next_attempt_at as string)).toBeGreaterThan(
      Date.parse(tried.last_attempt_at as string),
    )
    await it.ask(`DELETE /api/v1/webhooks/${webhook.id}`)
  })

  test('that says 200 and then breaks off or never ends has the message', async () => {
    for (const path of ['/truncated', '/endless']) {
      const { webhook } = await it.create(path)
      await it.happen()
      const { response_body } = await it.delivery(
        webhook.id,
        ({ status }) => status === 'delivered',
      )
      expect((response_body as string).length).toBeLessThanOrEqual(1_024)
      await it.ask(`DELETE /api/v1/webhooks/${webhook.id}`)
    }
  })

  test('that hangs delays nobody else', async () => {
    const hanging = await Promise.all(Array.from({ length: 10 }, () => it.create('/hangs')))
    const { webhook } = await it.create('/beside')
    for (let n = 0; n < 5; n++) await it.happen()
    await it.arrivals('/beside', 5)
    await it.delivery(webhook.id, ({ status }) => status === 'delivered')
    for (const { webhook } of hanging) {
      expect(await it.deliveriesOf(webhook.id)).toMatchObject(
        Array(5).fill({ status: 'pending', attempts: 0 }),
      )
    }
    const { webhook: one } = hanging[0]!
    const timedOut = await it.delivery(one.id, ({ attempts }) => Number(attempts) > 0)
    expect(timedOut).toMatchObject({
      response_status: null,
      error: expect.stringContaining('3 seconds'),
    })
    for (const { webhook } of hanging) await it.ask(`DELETE /api/v1/webhooks/${webhook.id}`)
  })

  test('and then works gets the same message with the same id', async () => {
    const { webhook, secret } = await it.create('/mends')
    it.receiver.on('/mends', (response) => {
      response.writeHead(it.receiver.at('/mends').length > 1 ? 204 : 503).end()
    })
    await it.happen()
    const [first, second] = await it.arrivals('/mends', 2)
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
    expect(second!.body).toBe(first!.body)
    verify(secret, second!)
    await it.delivery(
      webhook.id,
      ({ status, attempts }) => status === 'delivered' && attempts === 2,
    )
    expect(
      (await it.ask(`GET /api/v1/webhooks/${webhook.id}`)).body.webhook.failing_since,
    ).toBeNull()
  })

  test('that says it is gone, or fails for five days, is switched off, and the owners are told by mail', async () => {
    const gone = await it.create('/410')
    const failing = await it.create('/500?days')
    await it.postgres.query(
      "UPDATE webhooks SET failing_since = now() - interval '5 days' WHERE webhook_id = $1",
      [failing.webhook.id],
    )
    await it.happen()
    for (const [{ webhook }, disabled_reason] of [
      [gone, 'gone'],
      [failing, 'failing'],
    ] as const) {
      expect(await it.delivery(webhook.id, ({ status }) => status === 'failed')).toMatchObject({
        attempts: 1,
      })
      const { body } = await it.ask(`GET /api/v1/webhooks/${webhook.id}`)
      expect(body.webhook).toMatchObject({
        enabled: false,
        disabled_reason,
        disabled_at: expect.any(String),
      })
      await expect
        .poll(() => it.mail.mails.filter(({ text }) => text.includes(webhook.id)), {
          timeout: patienceMs,
        })
        .toMatchObject([{ to: [it.ownerEmail] }])
      expect((await it.ask(`POST /api/v1/webhooks/${webhook.id}/test`)).status).toBe(409)
    }
    const { body } = await it.ask(`PATCH /api/v1/webhooks/${failing.webhook.id}`, { enabled: true })
    expect(body.webhook).toMatchObject({
      enabled: true,
      disabled_reason: null,
      failing_since: null,
    })
    await it.ask(`DELETE /api/v1/webhooks/${failing.webhook.id}`)
  })
})

describe('what was sent', () => {
  test('is sent again when it is asked for: one, or all that failed', async () => {
    const { webhook } = await it.create('/replayed')
    const path = `/api/v1/webhooks/${webhook.id}`
    for (let n = 0; n < 3; n++) await it.happen({ data: { n } })
    const first = await it.arrivals('/replayed', 3)
    const { id } = await it.delivery(webhook.id, ({ status }) => status === 'delivered')
    expect((await it.ask(`POST ${path}/deliveries/${id}/replay`)).status).toBe(202)
    const [, , , again] = await it.arrivals('/replayed', 4)
    expect(first.map(({ headers }) => headers['webhook-id'])).toContain(
      again!.headers['webhook-id'],
    )
    // It has arrived before it is written down as delivered.
    await expect
      .poll(() => it.deliveriesOf(webhook.id), { timeout: patienceMs })
      .toMatchObject(Array(3).fill({ status: 'delivered' }))
    await it.postgres.query(
      "UPDATE webhook_deliveries SET status = 'failed' WHERE webhook_id = $1",
      [webhook.id],
    )
    const since = (ms: number) => ({ since: new Date(Date.now() + ms).toISOString() })
    expect((await it.ask(`POST ${path}/replay`, since(60_000))).body).toEqual({ replayed: 0 })
    expect((await it.ask(`POST ${path}/replay`, since(-600_000))).body).toEqual({ replayed: 3 })
    await it.arrivals('/replayed', 7)
  })

  test('as a test is tried once, and says so', async () => {
    const works = await it.create('/tested')
    const fails = await it.create('/500?tested')
    for (const { webhook } of [works, fails]) {
      const { status, body } = await it.ask(`POST /api/v1/webhooks/${webhook.id}/test`)
      expect({ status, ...body.delivery }).toMatchObject({
        status: 'pending',
        type: 'webhook.test',
      })
    }
    const [arrived] = await it.arrivals('/tested')
    expect(verify(works.secret, arrived!)).toMatchObject({
      type: 'webhook.test',
      data: { webhook_id: works.webhook.id },
    })
    await it.delivery(
      fails.webhook.id,
      ({ status, attempts }) => status === 'failed' && attempts === 1,
    )
    const { body } = await it.ask(`GET /api/v1/webhooks/${fails.webhook.id}`)
    expect(body.webhook).toMatchObject({ enabled: true, failing_since: null })
  })

  test('is listed page by page, newest first', async () => {
    const { webhook } = await it.create('/listed')
    for (let n = 0; n < 5; n++) await it.happen({ data: { n } })
    const path = `/api/v1/webhooks/${webhook.id}/deliveries`
    await it.arrivals('/listed', 5)
    const whole = await it.deliveriesOf(webhook.id)
    expect(whole).toHaveLength(5)
    const first = (await it.ask(`GET ${path}?limit=3`)).body
    const second = (await it.ask(`GET ${path}?limit=3&cursor=${first.next_cursor}`)).body
    const ids = [...first.deliveries, ...second.deliveries].map(({ id }) => id)
    expect(ids).toEqual(whole.map(({ id }: { id: string }) => id))
    expect(second.next_cursor).toBeUndefined()
    expect((await it.ask(`GET ${path}?status=failed`)).body.deliveries).toEqual([])
  })
})
