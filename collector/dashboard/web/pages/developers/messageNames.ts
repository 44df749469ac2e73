import type { Webhook } from '../../api.ts'

export type MessageType = Webhook['event_types'][number]

/** What each message of a webhook reports. */
export const messageNames: Readonly<Record<MessageType, string>> = {
  'audience.built': 'An audience is built',
  'list.imported': 'A list is imported',
  'export.run_ended': 'An export has run',
  'budget.reached': 'A budget is reached',
  'pixel.silent': 'A pixel goes silent',
  'alert.raised': 'An alert is raised',
  'alert.resolved': 'An alert is normal again',
  'visit.matched': 'A visit alert matches a person (contains personal data)',
}

/** Short names of the messages, for lists. */
const shortNames: Readonly<Record<MessageType, string>> = {
  'audience.built': 'Audience built',
  'list.imported': 'List imported',
  'export.run_ended': 'Export has run',
  'budget.reached': 'Budget reached',
  'pixel.silent': 'Pixel silent',
  'alert.raised': 'Alert raised',
  'alert.resolved': 'Alert normal again',
  'visit.matched': 'Visit matched',
}

/** Returns the short name of a message's type; `webhook.test` is the type of tests. */
export const shortName = (type: string): string =>
  type === 'webhook.test' ? 'Test' : (shortNames[type as MessageType] ?? type)
