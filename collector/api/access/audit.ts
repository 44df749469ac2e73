import type { Queryable } from '../../platform/postgres/transaction.ts'
import { callerId, type Principal } from './principal.ts'

/** The actor of a change, with the fields of a principal that the log stores. */
export type Actor = Pick<Principal, 'organizationId' | 'caller'>

export interface AuditObject {
  kind:
    | 'organization'
    | 'member'
    | 'project'
    | 'project_member'
    | 'pixel'
    | 'key'
    | 'campaign'
    | 'audience'
    | 'webhook'
    | 'list'
    | 'integration'
    | 'export'
    | 'share_link'
    | 'segment'
    | 'funnel'
    | 'annotation'
    | 'alert'
    | 'visit_alert'
    | 'archive'
    | 'link_removal'
    | 'erasure'
    | 'opt_out'
    | 'subject'
  id: string
}

/**
 * Records a change and its actor, in the transaction of the change. The log stores the actor's current name,
 * because entries remain after the actor is deleted. `details` must contain no secrets.
 */
export async function audit(
  client: Queryable,
  actor: Actor,
  action: string,
  object: AuditObject,
  details: Record<string, unknown> = {},
): Promise<void> {
  await client.query(
    `INSERT INTO audit_log (organization_id, actor, action, object_kind, object_id, details)
     VALUES ($1, jsonb_build_object('kind', $2::text, 'id', $3::uuid, 'name', coalesce(
       (SELECT name FROM api_keys WHERE key_id = $3),
       (SELECT coalesce(name, email) FROM members WHERE member_id = $3))), $4, $5, $6, $7)`,
    [
      actor.organizationId,
      actor.caller.kind,
      callerId(actor),
      action,
      object.kind,
      object.id,
      JSON.stringify(details),
    ],
  )
}
