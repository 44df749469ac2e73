import { requireOrganizationAdmin } from '../../api/access/permissions.ts'
import type { Principal } from '../../api/access/principal.ts'
import { forbidden } from '../../api/http/errors.ts'

export const access = {
  to: 'key',
  projectKeys: 'refused',
  keyRole: 'admin',
  limit: 'data',
  members: true,
} as const

/** Throws 403 for whoever may not speak for the organization, and for test keys. */
export function requireAdmin(principal: Principal): void {
  requireOrganizationAdmin(principal)
  if (principal.mode === 'test')
    throw forbidden('A test key reads sample data, which is about nobody.')
}
