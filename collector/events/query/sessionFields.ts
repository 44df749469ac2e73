import { type Field, fieldNamed } from '../../../schemas/fields.ts'

/** Channels of Google Analytics 4's default channel group, and AI assistants, in the order of evaluation. */
export const channels = [
  'Direct',
  'Cross-network',
  'Paid shopping',
  'Paid search',
  'Paid social',
  'Paid video',
  'Display',
  'Paid other',
  'AI assistants',
  'Organic shopping',
  'Organic social',
  'Organic video',
  'Organic search',
  'Email',
  'Affiliates',
  'Audio',
  'SMS',
  'Mobile push notifications',
  'Referral',
  'Unassigned',
] as const

/** The source of sessions without a campaign, click id or outside referrer. */
export const direct = 'Direct'

/** Fields of events whose value for a session comes from its first event. */
const ownFields = [
  'referrer_host',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'country',
  'region',
  'city',
  'language',
  'device_type',
  'browser',
  'os',
]

const computed = (name: string, description: string, more: Partial<Field> = {}): Field => ({
  name,
  columnType: 'Nullable(String)',
  dataType: 'Utf8',
  nullable: true,
  tier: 'web_event',
  group: 'marketing',
  description,
  ...more,
})

const byName: ReadonlyMap<string, Field> = new Map(
  [
    computed('channel', 'How the session came.', { nullable: false, values: channels }),
    computed('source', `The named source of the session; ${direct} without one.`, {
      nullable: false,
    }),
    computed('entry_page', 'page_path of the first page view.'),
    computed('exit_page', 'page_path of the last page view.'),
    ...ownFields.map((name) => fieldNamed(name)!),
  ].map((field) => [field.name, field]),
)

/** The fields that figures read from sessions instead of events. */
export const sessionFieldNames: readonly string[] = [...byName.keys()]

/** Those that a session has from its first event. */
export const firstEventFields: readonly string[] = sessionFieldNames.filter(
  (name) => name !== 'entry_page' && name !== 'exit_page',
)

export const sessionFieldNamed = (name: string): Field | undefined => byName.get(name)
