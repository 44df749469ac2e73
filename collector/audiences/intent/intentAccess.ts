import type { Access } from '../../api/access/routeAccess.ts'

/** Who may ask the intent routes. Intent data belongs to no project, so keys of one get what the organization's do. */
export const access = {
  to: 'key',
  projectKeys: 'as organization',
  keyRole: 'read',
  limit: 'intent',
} as const satisfies Access

/** The same for previews. */
export const previewAccess = { ...access, limit: 'intent_preview' } as const satisfies Access
