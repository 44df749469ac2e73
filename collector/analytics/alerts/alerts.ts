import { type Static, Type } from 'typebox'
import {
  Id,
  Name,
  Nullable,
  SeenVersion,
  strictObject,
  Timestamp,
  Version,
} from '../../api/http/commonSchemas.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { ChatUrl, MemberIds } from './alertChannels.ts'
import { Condition, ConditionInput } from './condition.ts'

/** Most alerts of a project, because each is measured once a minute. */
export const alertsMax = 50

const fields = {
  name: Name,
  condition: Condition,
  active: Type.Boolean({ description: 'Whether the alert is checked.' }),
  member_ids: MemberIds,
}

export const AlertInput = strictObject({
  project_id: Id,
  ...fields,
  condition: ConditionInput,
  active: Type.Optional({ ...fields.active, default: true }),
  member_ids: Type.Optional({ ...fields.member_ids, default: [] }),
  chat_url: ChatUrl,
})
export const AlertChange = strictObject({
  ...Type.Partial(Type.Object({ ...fields, condition: ConditionInput })).properties,
  chat_url: ChatUrl,
  version: SeenVersion,
})

export const Alert = Type.Object(
  {
    alert_id: Id,
    project_id: Id,
    ...fields,
    has_chat_url: Type.Boolean(),
    is_raised: Type.Boolean({ description: 'Whether the condition held at the last check.' }),
    changed_at: Nullable(Timestamp, { description: 'When `is_raised` changed last.' }),
    last_value: Nullable(Type.Number(), {
      description: 'The figure at the last check. Null: there was nothing to compare with.',
    }),
    last_checked_at: Nullable(Timestamp),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Alert' },
)
export type Alert = Static<typeof Alert>

const selectAlerts = `
  SELECT alert_id, alerts.project_id, alerts.name, condition, active, member_ids, chat_url IS NOT NULL AS has_chat_url,
    is_raised, changed_at, last_value, last_checked_at, alerts.version, alerts.created_at, alerts.updated_at
  FROM alerts JOIN projects USING (project_id)`

/** Reads the alerts of a project, oldest first. */
export const listAlerts = (client: Queryable, projectId: string): Promise<Alert[]> =>
  readRecords<Alert>(
    client,
    `${selectAlerts} WHERE alerts.project_id = $1 ORDER BY alerts.created_at, alert_id`,
    [projectId],
  )

export async function readAlert(
  client: Queryable,
  organizationId: string,
  alertId: string,
  lock = false,
): Promise<Alert | undefined> {
  const [alert] = await readRecords<Alert>(
    client,
    `${selectAlerts} WHERE organization_id = $1 AND alert_id = $2 ${lock ? 'FOR UPDATE OF alerts' : ''}`,
    [organizationId, alertId],
  )
  return alert
}
