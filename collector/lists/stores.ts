import { sampleIdentity } from '../access/sampleView.ts'
import type { ClickHouse } from '../platform/clickhouse/client.ts'

/** The store of an organization's lists: those of the sample organization are among its own events. */
export const clickhouseOf = (
  { clickhouse }: { readonly clickhouse: Readonly<Record<'live' | 'test', ClickHouse>> },
  organizationId: string,
): ClickHouse => clickhouse[organizationId === sampleIdentity.organizationId ? 'test' : 'live']
