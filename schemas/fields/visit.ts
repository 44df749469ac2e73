import type { Field } from './field.ts'

const optional = { nullable: true, tier: 'web_event', counts: 'groups' } as const

const place = (name: string, description: string): Field => ({
  name,
  columnType: 'LowCardinality(Nullable(String)) CODEC(ZSTD(1))',
  dataType: 'Utf8',
  ...optional,
  group: 'location',
  description,
})

const width = (name: string, description: string): Field => ({
  name,
  columnType: 'Nullable(UInt16) CODEC(ZSTD(1))',
  dataType: 'Int64',
  ...optional,
  group: 'device',
  description,
})

/** Location and device of visitors. Events stored before these columns existed have null. */
export const visitFields: readonly Field[] = [
  place(
    'country',
    'Country of client_ip, ISO 3166-1 alpha-2. Null if the database does not contain the address.',
  ),
  place('region', 'Region of client_ip, in English. Null if the collector has no city database.'),
  place('city', 'City of client_ip, in English. Null if the collector has no city database.'),
  {
    name: 'language',
    columnType: 'LowCardinality(Nullable(String)) CODEC(ZSTD(1))',
    dataType: 'Utf8',
    ...optional,
    group: 'device',
    description: 'Preferred language of the browser (first in Accept-Language), such as en-GB.',
  },
  width('screen_width', 'Width of the screen in CSS pixels. Only for page views.'),
  width('viewport_width', 'Width of the window in CSS pixels. Only for page views.'),
]
