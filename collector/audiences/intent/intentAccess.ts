import type { Access } from '../../api/access/routeAccess.ts'

/** Who may ask the intent routes. Intent data belongs to no project, so keys of one get what the organization's do. */
export const access = {
  to: 'key',
  projectKeys: 'as organization',
  keyRole: 'read',
  limit: 'intent',
} as const satisfies Access

/** Who may use the free routes: also owners and admins who are signed in to the dashboard. */
export const freeAccess = { ...access, members: 'admins' } as const satisfies Access

/** The same for previews. */
export const previewAccess = { ...freeAccess, limit: 'intent_preview' } as const satisfies Access
