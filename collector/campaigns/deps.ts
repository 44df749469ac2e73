import type { Principal } from '../access/principal.ts'
import type { RecordScope } from '../access/recordScope.ts'
import type { ClickHouse } from '../clickhouse/client.ts'
import type { Locate } from '../ingest/location.ts'
import type { OptOuts } from '../ingest/optOuts.ts'
import type { Postgres } from '../postgres/pool.ts'
import type { Spool } from '../spool/spool.ts'

/** What the campaigns' records and figures are built from. */
export interface CampaignsDeps {
  postgres: Postgres
  clickhouse: { live: ClickHouse; test: ClickHouse }
  /** Whose campaigns a request is about. Throws 403 and 404. */
  recordScopeOf(principal: Principal, asked: string | undefined): Promise<RecordScope>
  /** Milliseconds since 1970. */
  now(): number
}

/** What taking DSP events in is built from. */
export interface DeliveryDeps {
  postgres: Postgres
  /** Of the table `events`. */
  spool: Spool
  /** Whose events are not to be kept. */
  optOuts: OptOuts
  locate: Locate
}
