import type { OpenQueryExecutor } from '../api/access/queryExecutor.ts'
import type { Tokens } from '../api/access/tokens.ts'
import type { Cursors } from '../api/http/cursors.ts'
import type { SendMail } from '../platform/mail.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import type { SecretBox } from '../platform/outbound/secretBox.ts'
import type { Postgres } from '../platform/postgres/pool.ts'

export interface AccountsDeps {
  postgres: Postgres
  /** Opens the reader of a request: events of real visitors, or the sample database for a test key. */
  openQueryExecutor: OpenQueryExecutor
  cursors: Cursors
  /** The address of dashboard and API in browsers, without a slash at its end. */
  publicUrl: string
  /** The address that pages load pixels from, without a slash at its end. */
  collectorUrl: string
  /** Null: no mail is sent. */
  sendMail: SendMail | null
  /** Seals the secrets of second factors and of clients at identity providers. */
  secretBox: SecretBox
  /** Sends requests to identity providers. */
  outbound: Outbound
  /** Signs the tokens of the legacy sign-in. */
  tokens: Tokens
}
