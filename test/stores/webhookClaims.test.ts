import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimDeliveries } from '../../collector/activation/webhooks/claim.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { dropDatabases, newPostgresDatabase } from '../harness/databases.ts'
import { storeOrganization } from '../harness/owners.ts'

let postgres: ReturnType<typeof openPostgres>
beforeAll(async () => {
  postgres = openPostgres(await newPostgresDatabase(), () => {})
})
afterAll(async () => {
  await postgres.end()
  await dropDatabases()
})

/** An organization with so many webhooks, to each of which so many messages are due; its id. */
async function organizationOf(webhooks: number, messages: number): Promise<string> {
  const organization = randomUUID()
  await storeOrganization(postgres, organization, 'O')
  await addWebhooks(organization, webhooks, messages)
  return organization
}

async function addWebhooks(
  organization: string,
  webhooks: number,
  messages: number,
): Promise<void> {
  await postgres.query(
    `INSERT INTO webhooks (webhook_id, organization_id, url, event_types, sealed_secret)
     SELECT gen_random_uuid(), $1, 'https://example.com', '{}', '' FROM generate_series(1, $2)`,
    [organization, webhooks],
  )
  await postgres.query(
    `INSERT INTO outbox_messages (message_id, organization_id, type, data)
     SELECT gen_random_uuid(), $1, 'audience.built', '{}' FROM generate_series(1, $2)`,
    [organization, messages],
  )
  await postgres.query(
    `INSERT INTO webhook_deliveries (delivery_id, webhook_id, message_id)
     SELECT gen_random_uuid(), webhook_id, message_id FROM webhooks JOIN outbox_messages USING (organization_id)
     WHERE organization_id = $1 ON CONFLICT DO NOTHING`,
    [organization],
  )
}

test('an organization with many receivers that hang leaves room for others, and for its own that work', async () => {
  const many = await organizationOf(20, 20)
  const claim = async () => {
    const claimed = await claimDeliveries(postgres, 256)
    return claimed.map(({ organization_id }) => organization_id)
  }
  expect(await claim()).toEqual(Array(64).fill(many))
  expect(await claim()).toEqual([])
  const other = await organizationOf(1, 1)
  expect(await claim()).toEqual([other])
  await addWebhooks(many, 1, 0)
  expect(await claim()).toEqual([many, many])
})
