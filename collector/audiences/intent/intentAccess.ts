import type { Access } from '../../api/access/routeAccess.ts'

/**
 * Access to the intent routes. Intent data belongs to no project, so keys of a project read the same data as
 * keys of the organization.
 */
export const access = {
  to: 'key',
  projectKeys: 'as organization',
  keyRole: 'read',
  limit: 'intent',
} as const satisfies Access

/** Access to the free routes: also owners and admins who are signed in to the dashboard. */
export const freeAccess = { ...access, members: 'admins' } as const satisfies Access

export const previewAccess = { ...freeAccess, limit: 'intent_preview' } as const satisfies Access
