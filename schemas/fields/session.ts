import type { Field } from './field.ts'

/**
 * Fields that depend on the visitor's other events (collector/events/query/sessions.ts). Reads that name them compute
 * them; they are not stored.
 */
export const sessionFields: readonly Field[] = [
  {
    name: 'session_id',
    columnType: 'Nullable(UUID)',
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'event',
    isOnlyNamed: true,
    description:
      'The visit the event belongs to: the events of a browser in a project. A visit ends after 30 minutes without an ' +
      'event. A new campaign or a new outside referrer starts another one. A visit that has lasted a complete UTC day ' +
      'ends at the next midnight. Later events never change it, but an event that arrives late can begin a visit ' +
      'earlier or join two. Null of svcdsp events.',
  },
  {
    name: 'is_entry',
    columnType: 'Nullable(Bool)',
    dataType: 'Boolean',
    nullable: true,
    tier: 'web_event',
    group: 'event',
    counts: 'groups',
    isOnlyNamed: true,
    description:
      'True for the first page view of a session, false for all other events, null for svcdsp events.',
  },
]
