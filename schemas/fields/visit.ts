import type { Field } from './field.ts'

const optional = { nullable: true, tier: 'web_event', counts: 'groups' } as const

const place = (name: string, description: string): Field => ({
  name,
  columnType: 'LowCardinality(Nullable(String))',
  dataType: 'Utf8',
  ...optional,
  group: 'location',
  description,
})

const width = (name: string, description: string): Field => ({
  name,
  columnType: 'Nullable(UInt16)',
  dataType: 'Int64',
  ...optional,
  group: 'device',
  description,
})

/** Where visitors are and what they see the page with. Events that were stored before these columns have null. */
export const visitFields: readonly Field[] = [
  place(
    'country',
    'ISO 3166-1 alpha-2 code of the country that client_ip belongs to; null where the database does not know.',
  ),
  place('region', 'Region of client_ip, in English, where the collector has a database of cities.'),
  place('city', 'City of client_ip, in English, where the collector has a database of cities.'),
  {
    name: 'language',
    columnType: 'LowCardinality(Nullable(String))',
    dataType: 'Utf8',
    ...optional,
    group: 'device',
    description: 'The language the browser asks for first (Accept-Language), such as en-GB.',
  },
  width('screen_width', 'Width of the screen in CSS pixels; of page views.'),
  width('viewport_width', 'Width of the window in CSS pixels; of page views.'),
]
