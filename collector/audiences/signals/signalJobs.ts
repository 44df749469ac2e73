import { clickhouseOf, type EventStores } from '../../events/query/eventStores.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import { countOwnEvents, deleteOldCounts } from './ownEvents/countOwnEvents.ts'
import { readCountedOrganizations } from './ownEvents/runs.ts'
import { ownEvents, readOrganizationsWithRules } from './rules.ts'

const oneOrganization = 'intent.own-events-of'

/** Counts organizations' own events by topic, after new events and changes of rules. */
export const signalQueues = (stores: EventStores): Queue[] => [
  {
    name: ownEvents,
    schedule: '*/10 * * * *',
    async run({ send }) {
      const counted = await Promise.all(
        Object.values(stores.clickhouse).map(readCountedOrganizations),
      )
      const organizations = new Set([
        ...(await readOrganizationsWithRules(stores.postgres)),
        ...counted.flat(),
      ])
      for (const organizationId of organizations) await send(oneOrganization, organizationId)
    },
  },
  {
    name: oneOrganization,
    timeoutSeconds: 3_600,
    run: ({ key }) =>
      countOwnEvents({ postgres: stores.postgres, clickhouse: clickhouseOf(stores, key!) }, key!),
  },
  {
    name: 'intent.delete-old-counts',
    schedule: '20 * * * *',
    async run() {
      for (const clickhouse of Object.values(stores.clickhouse)) await deleteOldCounts(clickhouse)
    },
  },
]
