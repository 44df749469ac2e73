import type { Webhook } from '../../../../collector/activation/webhooks/webhookSchemas.ts'
import { emit, type OutboxEvent } from '../../../../collector/platform/outbox/outbox.ts'
import { openPostgres } from '../../../../collector/platform/postgres/pool.ts'
import { inTransaction } from '../../../../collector/platform/postgres/transaction.ts'
import { waitFor } from '../../../harness/service.ts'
import { openTenant, type Tenant } from '../../../harness/sharedApp.ts'
import { startReceiver } from './receiver.ts'

/** Generous, because other tests run at the same time. */
export const patienceMs = 60_000

/** A tenant whose webhooks may reach this machine, and a receiver on it. */
export async function openWebhooks(tenant?: Pick<Tenant, 'service' | 'env' | 'mail'>) {
  const receiver = await startReceiver()
  const { service, env, mail } = tenant ?? (await openTenant())
  const postgres = openPostgres(env.DATABASE_URL!, () => {})
  const { demo } = service
  const organizationId = demo.organization_id

  /** Asks with the organization's key. */
  const ask = async (route: string, body?: unknown) => {
    const [method, path] = route.split(' ') as [string, string]
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        'x-api-key': demo.api_key,
        'x-api-secret': demo.api_secret,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it checks.
    return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as any }
  }
  const deliveriesOf = async (id: string) =>
    (await ask(`GET /api/v1/webhooks/${id}/deliveries`)).body.deliveries

  return {
    receiver,
    mail,
    postgres,
    organizationId,
    ask,
    deliveriesOf,
    projectId: demo.project_id,
    ownerEmail: demo.admin_email,
    /** Makes a webhook to a path of the receiver. */
    async create(path: string, more: object = {}): Promise<{ webhook: Webhook; secret: string }> {
      const body = { url: `${receiver.url}${path}`, event_types: ['audience.built'], ...more }
      const { status, body: created } = await ask('POST /api/v1/webhooks', body)
      if (status !== 201) throw new Error(JSON.stringify(created))
      return created
    },
    /** Has something happen in the organization, as the wings do. */
    happen: (event: Partial<OutboxEvent> = {}) =>
      inTransaction(postgres, (client) =>
        emit(client, { organizationId, type: 'audience.built', data: { count: 3 }, ...event }),
      ),
    /** Requests of a path, once there are so many. */
    arrivals: (path: string, count = 1) =>
      waitFor(
        `${count} messages at ${path}`,
        () => (receiver.at(path).length >= count ? receiver.at(path) : null),
        patienceMs,
      ),
    /** The newest delivery of a webhook, as soon as it is like this. */
    delivery: (id: string, isAsked: (delivery: Record<string, unknown>) => boolean) =>
      waitFor(
        `a delivery of ${id}`,
        async () => (await deliveriesOf(id)).find(isAsked) as Record<string, unknown> | undefined,
        patienceMs,
      ),
    async close() {
      await service.stop()
      await postgres.end()
      await receiver.close()
    },
  }
}
