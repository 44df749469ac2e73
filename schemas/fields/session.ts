import type { Field } from './field.ts'

/**
 * What takes a visitor's other events to know (collector/events/query/sessions.ts): computed where it is asked for, and
 * stored nowhere.
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
      'The visit the event belongs to: a browser’s events in a project, until 30 minutes pass without one; a visit ' +
      'that has lasted a whole UTC day ends at the next midnight. Later events never change it, one that arrives late ' +
      'may: it can begin a visit earlier or join two. Null of svcdsp events.',
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
      'True of the first page view of a session, false of all other events, null of svcdsp events.',
  },
]
