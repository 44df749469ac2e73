import { labelOfField, words } from './labels.ts'

/** Places of an event that are no fields of stored events, by their JSON pointer. */
const placeLabels: Readonly<Record<string, string>> = {
  '': 'The event',
  '/event_data/timestamp': 'Time',
  '/event_data/url': 'Page address',
  '/event_data/properties': 'The properties',
  '/hem': 'Hashed e-mail address',
  '/hem_signature': 'Signature of the e-mail address',
}

/** A fault of an event in words: "Event name must be a string". `path` is a JSON pointer into the event. */
export const faultText = ({ path, message }: { path: string; message: string }): string =>
  `${placeLabels[path] ?? labelOfPath(path)} ${message}`

function labelOfPath(path: string): string {
  const names = path
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const [first = '', second, ...rest] = names
  if (first !== 'event_data' || second === undefined) return labelOfField(names.join('.'))
  if (second === 'name' || second === 'properties') return labelOfField(names.join('.'))
  return [second, ...rest].map(words).join(' › ')
}
