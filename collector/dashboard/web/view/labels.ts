import { countryName } from '../format.ts'

/** The dashboard's labels of fields, operators and events. */

/** Fields of events and people whose name in the API does not say what they are. */
const fieldLabels: Readonly<Record<string, string>> = {
  event_type: 'Event',
  page_path: 'Page',
  page_host: 'Site',
  page_url: 'Page address',
  is_entry: 'First page of the session',
  referrer_host: 'Referrer',
  referrer_url: 'Referrer address',
  utm_source: 'Campaign source',
  utm_medium: 'Campaign medium',
  utm_campaign: 'Campaign',
  utm_term: 'Campaign term',
  utm_content: 'Campaign content',
  click_id_type: 'Ad click type',
  click_id: 'Ad click id',
  device_type: 'Device',
  os: 'Operating system',
  os_version: 'System version',
  viewport_width: 'Window width',
  resolved: 'Identified',
  cookie_id: 'Visitor id',
  campaign_id: 'Ad campaign id',
  client_ip: 'IP address',
  timestamp: 'Time',
  ts_millis: 'Time in milliseconds',
  received_at: 'Received',
  hem: 'Hashed e-mail',
  pte_person_id: 'Ad exchange person id',
  pte_household_id: 'Ad exchange household id',
  maid: 'Mobile ad id',
  uid2: 'Unified ID 2.0',
  id5_id: 'ID5 id',
  ramp_id: 'RampID',
}

const eventLabels: Readonly<Record<string, string>> = {
  page_view: 'Page view',
  click: 'Click',
  scroll_depth: 'Scroll depth',
  copy: 'Text copied',
  form_submission: 'Form sent',
  search: 'Search',
  video: 'Video',
  download: 'Download',
  custom: 'Custom event',
  impression: 'Ad impression',
}

/** Origins of events, which the API also calls their source. */
const originLabels: Readonly<Record<string, string>> = { pixel: 'Pixel', svcdsp: 'Ad platform' }

/** Operators between a field and a value, as a filter shows them. */
export const operatorLabels: Readonly<Record<string, string>> = {
  eq: 'is',
  ne: 'is not',
  in: 'is one of',
  like: 'matches',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
}

/** The label of a field, or of a property of custom events: "Property plan" for event_data.properties.plan. */
export function labelOfField(name: string): string {
  const property = /^event_data\.(?:properties\.)?(.+)$/.exec(name)?.[1]
  if (property) return property === 'name' ? 'Event name' : `Property ${property}`
  return fieldLabels[name] ?? words(name)
}

/** Parts of names that people write differently. */
const spellings: Readonly<Record<string, string>> = {
  email: 'e-mail',
  emails: 'e-mails',
  github: 'GitHub',
  linkedin: 'LinkedIn',
  naics: 'NAICS',
  sic: 'SIC',
  url: 'address',
  usd: '(USD)',
}

/** "job_seniority" → "Job seniority"; "linkedin_url" → "LinkedIn address"; "is_donor" → "Donor". */
export const words = (name: string): string => {
  const text = name
    .replace(/^is_/, '')
    .split('_')
    .map((word) => spellings[word] ?? word)
    .join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Returns the label of a field's value. */
export const labelOfValue = (field: string, value: string): string => {
  if (field === 'event_type') return eventLabels[value] ?? value
  if (field === 'device_type') return words(value)
  if (field === 'country') return countryName(value)
  if (field === 'source') return originLabels[value] ?? value
  return value === 'true' ? 'yes' : value === 'false' ? 'no' : value
}
