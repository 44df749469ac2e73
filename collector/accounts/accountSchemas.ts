import { Type } from 'typebox'
import type { Access } from '../api/access/routeAccess.ts'

export const access = {
  /** Administration of the whole organization: a project key is refused. */
  organization: {
    to: 'key',
    projectKeys: 'refused',
    keyRole: 'admin',
    limit: 'data',
    members: true,
  },
  /** The same for what every key of the organization may know. */
  organizationRead: {
    to: 'key',
    projectKeys: 'refused',
    keyRole: 'read',
    limit: 'data',
    members: true,
  },
  /** Administration inside one project: a project key has its own. */
  project: {
    to: 'key',
    projectKeys: 'own project',
    keyRole: 'admin',
    limit: 'data',
    members: true,
  },
  /** The same for what every key of the project may know. */
  projectRead: {
    to: 'key',
    projectKeys: 'own project',
    keyRole: 'read',
    limit: 'data',
    members: true,
  },
  session: { to: 'session' },
  anyone: { to: 'anyone' },
} as const satisfies Record<string, Access>

/** The parts that bodies, queries and answers of this area are made of. */
export const Email = Type.String({ format: 'email', maxLength: 254 })
export const Password = Type.String({ minLength: 12, maxLength: 200 })
/** The current password of a user, whose length limits may have been different when it was chosen. */
export const CurrentPassword = Type.String({ minLength: 1, maxLength: 200 })
/** Additional refusals of routes that ask for the password or a code. */
export const triesRefusals = {
  401: '`unauthenticated`: no valid session. `second_factor_required` or `invalid_code`: a `code` is required, or the code is wrong.',
  429: '`rate_limited`: too many attempts. Retry after the seconds in `Retry-After`.',
} as const
/** A code of an authenticator app or a recovery code, as people type it. */
export const Code = Type.String({
  minLength: 1,
  maxLength: 40,
  description:
    'The six digits that an authenticator app shows now, or a recovery code. Each works once.',
})

export const OrganizationRole = Type.Union([
  Type.Literal('owner'),
  Type.Literal('admin'),
  Type.Literal('member'),
])
export const ProjectRole = Type.Union([Type.Literal('admin'), Type.Literal('member')])

export const EventsChoice = Type.Union([Type.Literal('delete'), Type.Literal('keep')], {
  description:
    'Collection stops immediately. `delete` removes the stored events within minutes; `keep` keeps them.',
})
/** The same where the request may omit it. */
export const EventsOption = Type.Optional(
  Type.Union(EventsChoice.anyOf, {
    description: '`keep` (default) keeps the stored events; `delete` removes them within minutes.',
  }),
)
/** The answer to a deletion that leaves nothing to report. */
export const Deleted = Type.Null({ description: 'Deleted.' })
export const DeletedWithEvents = Type.Object({ deleted: Type.Literal(true), events: EventsChoice })
