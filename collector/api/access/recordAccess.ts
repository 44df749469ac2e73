import type { Access } from './routeAccess.ts'

/** Access to routes that read data of projects: audiences, webhooks, statistics, usage. */
export const access = {
  to: 'key',
  projectKeys: 'own project',
  keyRole: 'read',
  limit: 'data',
  members: true,
} as const satisfies Access

export const eventsAccess = { ...access, limit: 'events' } as const satisfies Access

/** Access to routes that change records or send data. */
export const writeAccess = { ...access, keyRole: 'write' } as const satisfies Access

/** Access that also accepts `Authorization: Bearer <API key>` (spec: Authentication 6). */
export const bearerAccess = { ...access, bearerKey: true } as const satisfies Access

/** Access to routes that change lists and campaigns. */
export const bearerWriteAccess = { ...writeAccess, bearerKey: true } as const satisfies Access

/** Access to routes whose response is the same for all callers: prices, taxonomy, templates. */
export const catalogAccess = { ...access, projectKeys: 'as organization' } as const satisfies Access
