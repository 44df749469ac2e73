import { join } from 'node:path'
import { type Authenticate, createAuthenticate } from './api/access/authenticate.ts'
import type { GuardDeps } from './api/access/guard.ts'
import { createRecordLastUsed } from './api/access/lastUsed.ts'
import {
  createRecordScopeOf,
  createScopeOf,
  type RecordScopeOf,
  type ScopeOf,
} from './api/access/policy.ts'
import {
  createOpenQueryExecutor,
  type OpenQueryExecutor,
  readLimitsOf,
} from './api/access/queryExecutor.ts'
import { createTakeTokens } from './api/access/rateLimits.ts'
import { createSandboxTenant } from './api/access/sandboxTenant.ts'
import { serviceSecret } from './api/access/serviceSecret.ts'
import { createTokens, type Tokens } from './api/access/tokens.ts'
import { type Cursors, openCursors } from './api/http/cursors.ts'
import type { FileStore } from './audiences/files/fileStore.ts'
import { openFiles } from './audiences/files/open.ts'
import { openUploads, type Uploads } from './audiences/lists/upload/uploads.ts'
import { type Allowance, createAllowance } from './billing/allowance.ts'
import { type Billing, createBilling } from './billing/billing.ts'
import { openRequestLog, type RequestLog } from './billing/requests/requestLog.ts'
import { type Config, duties } from './config.ts'
import type { Ingest } from './ingest/openIngest.ts'
import type { EventLogs } from './ingest/spool/spools.ts'
import type { DemoPixel } from './ops/demo/rowsQuery.ts'
import { collectorIdOf } from './platform/collectors.ts'
import { type Log, openLog, type WarnLog } from './platform/log.ts'
import { openMail, type SendMail } from './platform/mail.ts'
import { registry } from './platform/metrics.ts'
import { type Outbound, openOutbound } from './platform/outbound/outbound.ts'
import { openSecretBox, type SecretBox } from './platform/outbound/secretBox.ts'
import { packageVersion } from './platform/paths.ts'
import type { Postgres } from './platform/postgres/pool.ts'
import type { StoreConnections } from './platform/stores/openStores.ts'

/**
 * All services that routes and jobs need. Each room declares the members it needs in its own type, and this record
 * satisfies all of them.
 */
export interface Services {
  readonly config: Config
  readonly log: Log
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number
  readonly postgres: Postgres
  /** Runs queries in ClickHouse: `live` has real visitors' events, `test` those that test keys read. */
  readonly clickhouse: StoreConnections['clickhouse']
  /** Opens what one request reads ClickHouse through, within its limits. */
  readonly openQueryExecutor: OpenQueryExecutor
  /** Decides which events a request may read. */
  readonly scopeOf: ScopeOf
  /** Decides whose lists, exports, integrations and campaigns a request is about. */
  readonly recordScopeOf: RecordScopeOf
  /** Decides who may ask, before every route. */
  readonly guard: GuardDeps
  /** Signs and verifies the tokens of the legacy sign-in. */
  readonly tokens: Tokens
  readonly cursors: Cursors
  readonly billing: Billing
  /** Takes free answers about people from an organization's daily allowance. */
  readonly allowance: Allowance
  /** Logs requests to the API; null: no request is logged. */
  readonly requestLog: RequestLog | null
  /** Sends requests to addresses that customers give. */
  readonly outbound: Outbound
  readonly secretBox: SecretBox
  /** Sends a mail; null: this service sends none. */
  readonly sendMail: SendMail | null
  /** Keeps uploaded files until their import. */
  readonly uploads: Uploads
  readonly files: FileStore
  /** The directory that has these files, or in which they are written before they go to S3. */
  readonly filesDirectory: string
  readonly deadLetterDirectory: string
  /** Takes beacons; null: this process takes none. */
  readonly ingest: Ingest | null
  /** The pixel of the demo shop; null: this process has no shop. */
  readonly demoPixel: DemoPixel | null
  /** Returns the metrics of all processes of this machine, as Prometheus text. */
  readonly metrics: () => Promise<string>
  /** Returns why this process should get no requests now; null when it should. */
  readonly notReady: () => string | null
  /** The time after which an idle connection is closed. */
  readonly idleConnectionMs: number
  /** The time in which a client must have sent its headers. */
  readonly headTimeoutMs: number
  /** The time in which a webhook must have answered. */
  readonly webhookTimeoutMs: number
  /** The address of dashboard and API in browsers, without a slash at its end. */
  readonly publicUrl: string
  /** The address that pages load pixels from, without a slash at its end. */
  readonly collectorUrl: string
  readonly version: string
  /**
   * Writes pending data and stops following PostgreSQL. The caller that opened the stores closes them
   * afterwards.
   */
  close(): Promise<void>
}

/** Replaceable parts for a process or a test. Everything has a default. */
export interface ServiceOptions {
  /** Default: to standard output, from LOG_LEVEL on. */
  log?: Log
  /** Default: the clock of this machine. */
  now?: () => number
  /** Default: through SMTP_URL. */
  sendMail?: SendMail | null
  /** Default: inside the network only to FOOTFALL_OUTBOUND_ALLOW. */
  outbound?: Outbound
  /** Default: FOOTFALL_RATE_LIMITS. */
  hasRateLimits?: boolean
  /** Default: whether the role answers reads. */
  logsRequests?: boolean
  /** Replaces parts of the decision who may ask. */
  guard?: Partial<GuardDeps>
  /** Default: by what PostgreSQL knows of projects and pixels. */
  scopeOf?: Services['scopeOf']
  /** Default: charges in `stores`. */
  billing?: Billing
  /** Signs cursors; default: the key that all processes share, from PostgreSQL. */
  cursorKey?: Uint8Array
  /** The event logs of this process, which then takes beacons; default: none. */
  logs?: EventLogs | null
  /** Whether this process writes the machine's copies of what PostgreSQL has; default: no. */
  keepsCopies?: boolean
  /** Default: no demo shop. */
  demoPixel?: DemoPixel | null
  /** Default: the metrics of this process alone. */
  metrics?: () => Promise<string>
  /** Another reason, in addition to faults of the spool; default: none. */
  notReady?: () => string | null
  /** Default: a minute. */
  idleConnectionMs?: number
  /** Default: ten seconds. */
  headTimeoutMs?: number
  /** Default: 15 seconds. */
  webhookTimeoutMs?: number
}

/**
 * The composition root: builds, once for this process, everything that `createApp` mounts and that jobs run with. It
 * starts no child process and opens no store, so tests run several in one process.
 */
export async function createServices(
  config: Config,
  stores: Omit<StoreConnections, 'close'>,
  options: ServiceOptions = {},
): Promise<Services> {
  const {
    log = openLog(config),
    now = Date.now,
    sendMail = config.smtpUrl ? openMail(config.smtpUrl, config.smtpFrom) : null,
    outbound = openOutbound({ allow: config.outboundAllow }),
    notReady = () => null,
  } = options
  const { answersReads } = duties[config.role]
  // The primary's have more, and some jobs go through all databases.
  const { live, test } = stores.clickhouse
  const clickhouse = { live, test }
  const postgres = stores.postgres.pool
  const tokens = createTokens(postgres)
  const cursorKey =
    options.cursorKey ??
    (answersReads ? await serviceSecret(postgres, 'cursor_key') : Buffer.alloc(0))
  const cursors = openCursors(Buffer.from(cursorKey))
  const { files, filesDirectory } = openFiles(config, cursors)
  const guard = await createGuard(config, { postgres, tokens, log }, options)
  const billing = options.billing ?? createBilling({ postgres, log, now })
  const { logsRequests = answersReads } = options
  const requestLog = logsRequests ? openRequestLog(live, log) : null
  const ingest = await openIngest(config, stores, guard, log, options)
  return {
    config,
    log,
    now,
    postgres,
    clickhouse,
    openQueryExecutor: createOpenQueryExecutor(clickhouse, readLimitsOf(config)),
    scopeOf: options.scopeOf ?? createScopeOf(postgres),
    recordScopeOf: createRecordScopeOf(postgres),
    guard,
    tokens,
    cursors,
    billing,
    allowance: createAllowance({ postgres, perDay: config.freeAnswersPerDay, now }),
    requestLog,
    outbound,
    secretBox: openSecretBox(config),
    sendMail,
    uploads: openUploads(config.dataDir, collectorIdOf(config.dataDir)),
    files,
    filesDirectory,
    deadLetterDirectory: join(config.dataDir, 'dead_letters'),
    ingest,
    demoPixel: options.demoPixel ?? null,
    metrics: options.metrics ?? (() => registry.metrics()),
    notReady: () => notReady() ?? ingest?.logs.events.trouble ?? null,
    idleConnectionMs: options.idleConnectionMs ?? 60_000,
    headTimeoutMs: options.headTimeoutMs ?? 10_000,
    webhookTimeoutMs: options.webhookTimeoutMs ?? 15_000,
    publicUrl: config.publicUrl,
    collectorUrl: config.collectorUrl,
    version: packageVersion,
    async close() {
      await ingest?.close()
      await billing.close()
      await requestLog?.close()
    },
  }
}

async function createGuard(
  { publicUrl, rateLimits }: Config,
  { postgres, tokens, log }: Pick<Services, 'postgres' | 'tokens' | 'log'>,
  { hasRateLimits = rateLimits, guard }: ServiceOptions,
): Promise<GuardDeps> {
  const authenticate: Authenticate = createAuthenticate(postgres, tokens, publicUrl)
  return {
    authenticate,
    takeTokens: hasRateLimits ? createTakeTokens(postgres) : null,
    wrongKeys: hasRateLimits
      ? // Loaded only by processes that answer requests.
        (await import('./api/access/wrongKeys.ts')).createWrongKeyLimit()
      : null,
    noteKeyUse: createRecordLastUsed(postgres, log),
    sandboxTenant: createSandboxTenant(postgres),
    ...guard,
  }
}

async function openIngest(
  config: Config,
  { postgres }: Pick<StoreConnections, 'postgres'>,
  guard: GuardDeps,
  log: WarnLog,
  { logs = null, keepsCopies = false }: ServiceOptions,
): Promise<Ingest | null> {
  if (!logs) return null
  // Loaded only by processes that take beacons.
  const { openIngest } = await import('./ingest/openIngest.ts')
  return openIngest({ config, postgres, guard, logs, keepsCopies, log })
}
