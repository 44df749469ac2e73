import { sampleIdentity } from '../access/sampleView.ts'
import type { ClickHouse } from '../platform/clickhouse/client.ts'
import type { Postgres } from '../platform/postgres/pool.ts'

/** The stores of audiences: those of the sample organization are built and written among its own events. */
export interface AudienceStores {
  readonly postgres: Postgres
  readonly clickhouse: Readonly<Record<'live' | 'test', ClickHouse>>
}

export const clickhouseOf = (
  { clickhouse }: Pick<AudienceStores, 'clickhouse'>,
  organizationId: string,
): ClickHouse => clickhouse[organizationId === sampleIdentity.organizationId ? 'test' : 'live']
