import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** The stores of events and data computed from them; the sample organization has its own database. */
export interface EventStores {
  readonly postgres: Postgres
  readonly clickhouse: Readonly<Record<'live' | 'test', ClickHouse>>
}

export const clickhouseOf = (
  { clickhouse }: Pick<EventStores, 'clickhouse'>,
  organizationId: string,
): ClickHouse => clickhouse[organizationId === sampleIdentity.organizationId ? 'test' : 'live']
