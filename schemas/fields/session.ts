import type { Field } from './field.ts'

/**
 * Fields that depend on the visitor's other events. Reads that name them take them from `hits`
 * (collector/events/query/sessions.ts).
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
      'ends at the next midnight. Events that arrive in order never change it, but a late event can begin a visit ' +
      'earlier or join two. Events of bots have visits of their own. Null in the first seconds after the arrival of an ' +
      'event, and for svcdsp events.',
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
      'True for the first page view of a visit, false for all other events. Null in the first seconds after the ' +
      'arrival of an event, and for svcdsp events.',
  },
]
