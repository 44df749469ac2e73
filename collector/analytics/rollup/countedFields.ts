/** The dimensions of counted days: event fields that never change. */
export const rolledFields: readonly string[] = ['page_path', 'page_host', 'event_type']

/** The dimensions of counted days that are session fields. */
export const rolledSessionFields: readonly string[] = [
  'channel',
  'source',
  'referrer_host',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'country',
  'region',
  'city',
  'language',
  'device_type',
  'browser',
  'os',
]

/** The dimension of a complete day. */
export const wholeDay = ''

/** The fields of sessions that `counted_sessions` has. */
export const storedSessionFields: readonly string[] = [
  ...rolledSessionFields,
  'entry_page',
  'exit_page',
]
