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

/** Access to previews. */
export const previewAccess = { ...access, limit: 'intent_preview' } as const satisfies Access
