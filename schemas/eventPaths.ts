import type { TSchema } from 'typebox'
import { eventDataSchemas } from './events/index.ts'

/**
 * JSON pointers of the members of events whose names the service defines: of all events, of captured ones, and of messages
 * of Segment's API. Other names are the sender's own.
 */
export const eventPaths: ReadonlySet<string> = new Set([
  '/event_id',
  '/event_type',
  '/event_data',
  '/type',
  '/hem',
  '/hem_source',
  '/hem_signature',
  '/path',
  '/form',
  '/name',
  '/event',
  '/anonymousId',
  '/timestamp',
  '/properties',
  '/traits',
  ...Object.values(eventDataSchemas).flatMap((schema) => pathsIn(schema, '/event_data')),
])

function pathsIn({ properties = {} }: { properties?: object }, path: string): string[] {
  return Object.entries(properties).flatMap(([name, member]: [string, TSchema]) => [
    `${path}/${name}`,
    ...pathsIn(member, `${path}/${name}`),
  ])
}
