import { isUuid } from '../../../schemas/uuid.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

/** Selects the id and the name of every kind of object in the log. */
const named = `
  SELECT organization_id AS id, name FROM organizations
  UNION ALL SELECT project_id, name FROM projects
  UNION ALL SELECT pixel_id, name FROM pixels
  UNION ALL SELECT key_id, name FROM api_keys
  UNION ALL SELECT member_id, coalesce(name, email) FROM members
  UNION ALL SELECT campaign_id, name FROM campaigns
  UNION ALL SELECT audience_id, name FROM audiences
  UNION ALL SELECT list_id, name FROM lists
  UNION ALL SELECT integration_id, name FROM integrations
  UNION ALL SELECT export_id, name FROM exports
  UNION ALL SELECT share_id, name FROM share_links
  UNION ALL SELECT webhook_id, url FROM webhooks
  UNION ALL SELECT visit_alert_id, name FROM visit_alerts
  UNION ALL SELECT item_id, coalesce(content ->> 'name', content ->> 'text') FROM saved_items`

/** Reads the names of objects by id; deleted objects have none. The ids come from the caller's own log. */
export async function readObjectNames(
  client: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ id: string; name: string }>(
    `SELECT id, name FROM (${named}) AS named WHERE id = ANY($1::uuid[])`,
    [ids.filter(isUuid)],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}
