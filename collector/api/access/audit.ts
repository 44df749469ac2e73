import type { Queryable } from '../../platform/postgres/transaction.ts'
import { callerId, type Principal } from './principal.ts'

/** Who did something: all that the log keeps of a principal. */
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
    | 'erasure'
    | 'opt_out'
    | 'subject'
  id: string
}

/**
 * Records who changed what, in the transaction of the change itself. The actor's name is kept as it is now, for the log
 * outlives them. `details` must hold no secrets.
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
