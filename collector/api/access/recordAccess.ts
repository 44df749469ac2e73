import type { Access } from './routeAccess.ts'

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

/** Who may ask what is the same for everybody: the schema of audiences' definitions, the templates. */
export const catalogAccess = { ...access, projectKeys: 'as organization' } as const satisfies Access
