import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** Where events and all that is made of them are: of the sample organization in a database of its own. */
export interface EventStores {
  readonly postgres: Postgres
  readonly clickhouse: Readonly<Record<'live' | 'test', ClickHouse>>
}

export const clickhouseOf = (
  { clickhouse }: Pick<EventStores, 'clickhouse'>,
  organizationId: string,
): ClickHouse => clickhouse[organizationId === sampleIdentity.organizationId ? 'test' : 'live']
