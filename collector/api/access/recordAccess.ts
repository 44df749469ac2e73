import { forbidden } from '../http/errors.ts'
import type { Access } from './access.ts'
import type { Principal } from './principal.ts'

/** Who may ask the routes of what belongs to a project: audiences, webhooks, integrations, exports. */
export const access = {
  to: 'key',
  projectKeys: 'own project',
  keyRole: 'read',
  limit: 'data',
  members: true,
} as const satisfies Access

/** The same for what changes or sends something. */
export const writeAccess = { ...access, keyRole: 'write' } as const satisfies Access

/** Who may ask the routes of lists and campaigns: `Authorization: Bearer <API key>` too (spec: Authentication 6). */
export const bearerAccess = { ...access, bearerKey: true } as const satisfies Access

/** The same for what changes them. */
export const bearerWriteAccess = { ...writeAccess, bearerKey: true } as const satisfies Access

/** Throws 403 for a test key: the sample is the same for everybody. `what` names its records in the plural. */
export function requireLive({ mode }: Principal, what: 'audiences' | 'lists' | 'campaigns'): void {
  if (mode === 'test') throw forbidden(`A test key reads sample ${what} and changes nothing.`)
}
