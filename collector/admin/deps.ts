import type { Tokens } from '../access/tokens.ts'
import type { ClickHouse } from '../platform/clickhouse/client.ts'
import type { SendMail } from '../platform/mail.ts'
import type { Postgres } from '../platform/postgres/pool.ts'

/** What the routes of accounts are built from. */
export interface AccountsDeps {
  postgres: Postgres
  /** The events of real visitors, and the sample database that test keys read. */
  clickhouse: { live: ClickHouse; test: ClickHouse }
  /** How browsers reach this service, without a slash at the end. */
  publicUrl: string
  /** Null: no mail is sent. */
  sendMail: SendMail | null
  /** Signs the tokens of the legacy sign-in. */
  tokens: Tokens
}
