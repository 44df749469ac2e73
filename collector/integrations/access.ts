import type { Access } from '../access/access.ts'

/** Who may ask the routes of integrations and exports (spec: Project-scoped key behavior). */
export const access = {
  to: 'key',
  projectKeys: 'own project',
  keyRole: 'read',
  limit: 'data',
  members: true,
} as const satisfies Access

/** The same for what changes or sends something. */
export const writeAccess = { ...access, keyRole: 'write' } as const satisfies Access
