import { countryName } from '../../format.ts'
import { filterFor } from '../../view/filterText.ts'
import { labelOfField, labelOfValue } from '../../view/labels.ts'
import type { Property } from '../../view/properties.ts'

interface DimensionOf {
  name: string
  /** Heading of the column with its values; default: its name. */
  head?: string
  /** The name of a missing value. */
  none: string
  /** Formats a value. */
  text?(value: string): string
}

const yesOrNo = (value: string) => (value === 'true' ? 'Identified' : 'Not identified')

/** The dimensions of panels. */
export const dimensions = {
  page_path: { name: 'Top', head: 'Page', none: 'No page' },
  entry_page: { name: 'Entry', head: 'Entry page', none: 'No page' },
  exit_page: { name: 'Exit', head: 'Exit page', none: 'No page' },
  source: { name: 'Source', none: 'Direct' },
  channel: { name: 'Channel', none: 'Unassigned' },
  referrer_host: { name: 'Referrer', none: 'Direct or unknown' },
  utm_source: { name: 'Campaign source', none: 'No source' },
  utm_medium: { name: 'Medium', none: 'No medium' },
  utm_campaign: { name: 'Campaign', none: 'No campaign' },
  country: { name: 'Country', none: 'Unknown', text: countryName },
  region: { name: 'Region', none: 'Unknown' },
  city: { name: 'City', none: 'Unknown' },
  language: { name: 'Language', none: 'Unknown' },
  device_type: {
    name: 'Type',
    head: 'Device',
    none: 'Unknown',
    text: (value) => labelOfValue('device_type', value),
  },
  browser: { name: 'Browser', none: 'Unknown' },
  os: { name: 'System', none: 'Unknown' },
  event_type: {
    name: 'Type',
    head: 'Event',
    none: '–',
    text: (value) => labelOfValue('event_type', value),
  },
  'event_data.name': { name: 'Custom', head: 'Event name', none: '–' },
  page_host: { name: 'Host', none: 'No page' },
  resolved: { name: 'Visitor', none: 'Unknown', text: yesOrNo },
} satisfies Record<string, DimensionOf>
/** A property of custom events. */
export type Dimension = keyof typeof dimensions | Property

/** The properties of a dimension. */
export const dimensionOf = (dimension: Dimension): DimensionOf =>
  dimensions[dimension as keyof typeof dimensions] ?? { name: labelOfField(dimension), none: '–' }

/** Whether a dimension is about custom events. Other events have no value of it. */
export const isOfCustomEvents = (dimension: Dimension): boolean =>
  dimension.startsWith('event_data')

/** Returns the heading of a dimension's column. */
export const headOf = (dimension: Dimension): string => {
  const { head, name } = dimensionOf(dimension)
  return head ?? name
}

/** Formats a value of a dimension. */
export function textOf(dimension: Dimension, value: string | null): string {
  const { none, text } = dimensionOf(dimension)
  return value === null ? none : (text?.(value) ?? value)
}

/** Returns the filters that a click on a value adds. */
export const filtersOf = (dimension: Dimension, value: string): string[] => [
  filterFor(dimension, value),
]
