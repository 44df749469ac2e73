import type { Field } from './field.ts'

/**
 * Fields that need other events of the visitor (collector/events/query/sessions.ts). Reads compute them, and
 * no table stores them.
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
      'Session of the event. A session has the events of one browser in one project. It ends after 30 minutes ' +
      'without events. A session that lasted a complete UTC day ends at the next midnight. An event that arrives late ' +
      'can move the start of a session or join two sessions. Null for svcdsp events.',
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
