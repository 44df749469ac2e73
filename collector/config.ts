import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import type { ClickHouseAddress } from './platform/clickhouse/cluster.ts'
import { StartError } from './platform/startError.ts'
import { unknownSettings } from './platform/unknownSettings.ts'

/** Everything the environment can set. Only this file reads it; `collector/docs/operations.md` lists the same variables. */
export interface Config {
  /** PORT, default 8787. */
  port: number
  /** HOST, default 127.0.0.1: what to listen on. */
  host: string
  /** The address at which this machine reaches it. */
  localUrl: string
  /** FOOTFALL_PUBLIC_URL: the address of dashboard and API in browsers; default http://HOST:PORT. */
  publicUrl: string
  /** FOOTFALL_COLLECTOR_URL: the address that pages load the pixel from and send to; default FOOTFALL_PUBLIC_URL. */
  collectorUrl: string
  /** FOOTFALL_DATA_DIR, default .footfall: spool, local stores, demo.json. */
  dataDir: string
  /** CLICKHOUSE_URL; or CLICKHOUSE_SHARDS and CLICKHOUSE_CLUSTER; default none: run a local server in the data directory. */
  clickhouse: ClickHouseAddress | null
  /** CLICKHOUSE_DATABASE, default footfall. Sample data is in <name>_test. */
  clickhouseDatabase: string
  /** DATABASE_URL, default none: run a local PostgreSQL in the data directory. */
  databaseUrl: string | null
  /** FOOTFALL_POSTGRES_CONNECTIONS_MAX, default four fifths of what PostgreSQL allows: connections of all our processes here. */
  postgresConnectionsMax: number | null
  /** FOOTFALL_ROLE, default all: ingest takes beacons, api answers reads. */
  role: keyof typeof duties
  /** FOOTFALL_DEMO, default on with local stores: demo organization, shop, demo.json. */
  demo: boolean
  /** FOOTFALL_DEMO_VISITS, default true: sample visitors keep visiting the demo; false: their visits end a day before it. */
  demoVisits: boolean
  /** FOOTFALL_SAMPLE_DAYS, default 30: how many days before today test keys find sample data of; 0: none at all. */
  sampleDays: number
  /** FOOTFALL_TRUSTED_PROXIES, default none: addresses or CIDR ranges whose X-Forwarded-For is believed. */
  trustedProxies: string[]
  /** FOOTFALL_IP_DATABASE, default none, which tells countries: a MaxMind database (.mmdb) of countries or cities. */
  ipDatabase: string | null
  /** FOOTFALL_SPOOL_MB_MAX, default 10240: past this the collector answers 503 busy. */
  spoolBytesMax: number
  /** NATS_URL, default none, which keeps the log in the spool; FOOTFALL_LOG_PREFIX, _REPLICAS, _AWAY. */
  nats: NatsSettings | null
  /** FOOTFALL_WORKERS, default one for each core but one, at least one: processes that answer requests. */
  workers: number
  /** FOOTFALL_CONNECTIONS_MAX, default 10000: open connections of one worker. */
  connectionsMax: number
  /** FOOTFALL_DRAIN_SECONDS, default 0: how long /readyz says 503 before the service stops, so that balancers look elsewhere. */
  drainSeconds: number
  /** FOOTFALL_EVENTS_PER_IP, default 2000: events a second that one worker takes from one address without an API key; 0: any. */
  eventsPerIp: number
  /** FOOTFALL_EVENTS_PER_PIXEL, default 50000: events a second that one worker stores for one pixel; 0: any. */
  eventsPerPixel: number
  /** FOOTFALL_IDENTIFIES_PER_IP, default 300: unsigned identifies a minute that one worker takes from one address; 0: any. */
  identifiesPerIp: number
  /** FOOTFALL_RATE_LIMITS, default true: the data API's limits (collector/api/access/rateLimits.ts). */
  rateLimits: boolean
  /** FOOTFALL_FREE_ANSWERS_PER_DAY, default 2000: free answers about people of one organization a UTC day. */
  freeAnswersPerDay: number
  /** FOOTFALL_METRICS_PORT, default none: a port of its own for /metrics, which PORT then has not. */
  metricsPort: number | null
  /** FOOTFALL_METRICS_TOKEN, default none: what /metrics is asked with; without either it answers this machine alone. */
  metricsToken: string | null
  /** FOOTFALL_READ_SECONDS_MAX, default 30: how long ClickHouse may work for one request. */
  readSecondsMax: number
  /** FOOTFALL_READ_MEMORY_MB_MAX, default 4096: memory that ClickHouse may take for one query. */
  readMemoryBytesMax: number
  /** FOOTFALL_SCAN_THREADS, default half of this machine's cores, at least 2: threads of ClickHouse that counts are read with. */
  scanThreads: number
  /** SMTP_URL, default none: smtp(s)://user:password@host:port, through which mail is sent. */
  smtpUrl: string | null
  /** SMTP_FROM: the sender of mails; default footfall@ the public host. */
  smtpFrom: string
  /** FOOTFALL_S3_ENDPOINT, _BUCKET, _REGION, _ACCESS_KEY_ID, _SECRET_ACCESS_KEY: where files are kept; default none, the data directory. */
  s3: S3Settings | null
  /** FOOTFALL_BACKUP_S3_*, like FOOTFALL_S3_*, and _PREFIX: where backups are kept that name no directory; default none. */
  backupS3: (S3Settings & { prefix: string }) | null
  /** FOOTFALL_OUTBOUND_ALLOW, default none: hosts, addresses and CIDR ranges inside the network that customers' addresses may lead to. */
  outboundAllow: string[]
  /** FOOTFALL_SECRET_KEY, by default made with a local PostgreSQL: 32 bytes as base64 that customers' secrets are sealed with; after commas, earlier ones. */
  secretKeys: string[]
  /** STRIPE_API_KEY, default none: usage is not reported to Stripe. */
  stripeApiKey: string | null
  /** STRIPE_API_BASE, default Stripe itself: another server that speaks its API. */
  stripeApiBase: string | null
  /** CHROMIUM_PATH, default none: the browser that `footfall-server check` drives; else it looks for the system's. */
  chromiumPath: string | null
  /** LOG_LEVEL, default warn. */
  logLevel: string
  /** Variables that look like settings but are none. */
  unknownSettings: string[]
}

export interface NatsSettings {
  servers: string[]
  /** Begins the names of all streams, so that several installations can share the servers. */
  prefix: string
  /** Copies of each message: 1 or 3. */
  replicas: number
  /** Where rows go while NATS is unavailable: `spool` keeps them on the collector's disk, `refuse` refuses the beacon. */
  whenAway: 'spool' | 'refuse'
}

export const duties = {
  all: { takesBeacons: true, answersReads: true },
  ingest: { takesBeacons: true, answersReads: false },
  api: { takesBeacons: false, answersReads: true },
} as const

/** A store that speaks S3. */
export interface S3Settings {
  /** Null: Amazon's own, of the region. */
  endpoint: string | null
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

type Environment = Readonly<Record<string, string | undefined>>

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const roles = Object.keys(duties) as (keyof typeof duties)[]

/** Reads and checks the environment. Throws StartError for the first variable that cannot be used. */
export function readConfig(env: Environment): Config {
  const port = integer(env, 'PORT', 8787, 1, 65_535)
  const host = env.HOST || '127.0.0.1'
  const clickhouse = clickhouseAddress(env)
  const databaseUrl = url(env, 'DATABASE_URL', ['postgres:', 'postgresql:'])
  const reachableHost = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const localUrl = `http://${reachableHost.includes(':') ? `[${reachableHost}]` : reachableHost}:${port}`
  const publicUrl = baseUrl(env, 'FOOTFALL_PUBLIC_URL') ?? localUrl
  return {
    port,
    host,
    localUrl,
    publicUrl,
    collectorUrl: baseUrl(env, 'FOOTFALL_COLLECTOR_URL') ?? publicUrl,
    dataDir: resolve(env.FOOTFALL_DATA_DIR || '.footfall'),
    clickhouse,
    clickhouseDatabase: identifier(env, 'CLICKHOUSE_DATABASE', 'footfall'),
    databaseUrl,
    postgresConnectionsMax: env.FOOTFALL_POSTGRES_CONNECTIONS_MAX
      ? integer(env, 'FOOTFALL_POSTGRES_CONNECTIONS_MAX', 0, 14, 100_000)
      : null,
    role: oneOf(env, 'FOOTFALL_ROLE', roles, 'all'),
    demo: flag(env, 'FOOTFALL_DEMO', clickhouse === null && databaseUrl === null),
    demoVisits: flag(env, 'FOOTFALL_DEMO_VISITS', true),
    sampleDays: integer(env, 'FOOTFALL_SAMPLE_DAYS', 30, 0, 30),
    trustedProxies: networks(env, 'FOOTFALL_TRUSTED_PROXIES'),
    ipDatabase: env.FOOTFALL_IP_DATABASE ? resolve(env.FOOTFALL_IP_DATABASE) : null,
    nats: natsSettings(env),
    spoolBytesMax: integer(env, 'FOOTFALL_SPOOL_MB_MAX', 10_240, 16, 10_000_000) * 1024 * 1024,
    workers: integer(env, 'FOOTFALL_WORKERS', Math.max(1, availableParallelism() - 1), 1, 256),
    connectionsMax: integer(env, 'FOOTFALL_CONNECTIONS_MAX', 10_000, 1, 1_000_000),
    drainSeconds: integer(env, 'FOOTFALL_DRAIN_SECONDS', 0, 0, 600),
    eventsPerIp: integer(env, 'FOOTFALL_EVENTS_PER_IP', 2_000, 0, 10_000_000),
    eventsPerPixel: integer(env, 'FOOTFALL_EVENTS_PER_PIXEL', 50_000, 0, 10_000_000),
    identifiesPerIp: integer(env, 'FOOTFALL_IDENTIFIES_PER_IP', 300, 0, 10_000_000),
    rateLimits: flag(env, 'FOOTFALL_RATE_LIMITS', true),
    freeAnswersPerDay: integer(env, 'FOOTFALL_FREE_ANSWERS_PER_DAY', 2_000, 0, 1_000_000_000),
    metricsPort: env.FOOTFALL_METRICS_PORT
      ? integer(env, 'FOOTFALL_METRICS_PORT', 0, 1, 65_535)
      : null,
    metricsToken: secret(env, 'FOOTFALL_METRICS_TOKEN', 16),
    readSecondsMax: integer(env, 'FOOTFALL_READ_SECONDS_MAX', 30, 1, 45),
    readMemoryBytesMax:
      integer(env, 'FOOTFALL_READ_MEMORY_MB_MAX', 4_096, 64, 10_000_000) * 1024 * 1024,
    scanThreads: integer(
      env,
      'FOOTFALL_SCAN_THREADS',
      Math.max(2, availableParallelism() >> 1),
      1,
      1_024,
    ),
    smtpUrl: url(env, 'SMTP_URL', ['smtp:', 'smtps:']),
    smtpFrom: env.SMTP_FROM || `Footfall <footfall@${new URL(publicUrl).hostname}>`,
    s3: s3(env, 'FOOTFALL_S3'),
    backupS3: backupS3(env),
    outboundAllow: addresses(env, 'FOOTFALL_OUTBOUND_ALLOW'),
    secretKeys: keys(env, 'FOOTFALL_SECRET_KEY'),
    stripeApiKey: env.STRIPE_API_KEY || null,
    stripeApiBase: url(env, 'STRIPE_API_BASE', ['http:', 'https:']),
    chromiumPath: env.CHROMIUM_PATH || null,
    logLevel: oneOf(env, 'LOG_LEVEL', logLevels, 'warn'),
    unknownSettings: unknownSettings(env),
  }
}

/**
 * CLICKHOUSE_URL, or the servers of CLICKHOUSE_SHARDS: commas between shards, | between the replicas of one, as
 * ClickHouse itself writes them. None of their errors repeats an address, which may hold a password.
 */
function clickhouseAddress(env: Environment): ClickHouseAddress | null {
  const single = url(env, 'CLICKHOUSE_URL', httpProtocols)
  const shards = list(env, 'CLICKHOUSE_SHARDS').map((shard) =>
    shard.split('|').map((part) => part.trim()),
  )
  const name = env.CLICKHOUSE_CLUSTER
  if (shards.length === 0) {
    if (name)
      throw new StartError('CLICKHOUSE_CLUSTER needs CLICKHOUSE_SHARDS: set both or neither')
    return single
  }
  if (single) throw new StartError('CLICKHOUSE_URL and CLICKHOUSE_SHARDS are both set: remove one')
  const servers = shards.flat()
  if (!servers.every((server) => isUrl(server, httpProtocols))) {
    throw new StartError(
      'CLICKHOUSE_SHARDS must be addresses that start with http:// or https://, with commas between shards and | between the replicas of a shard',
    )
  }
  if (new Set(servers.map((server) => new URL(server).host)).size < servers.length)
    throw new StartError('CLICKHOUSE_SHARDS names a server twice: name each server once')
  if (!name) {
    if (servers.length === 1) return servers[0]!
    throw new StartError(
      'CLICKHOUSE_SHARDS needs CLICKHOUSE_CLUSTER, the name of the cluster in remote_servers',
    )
  }
  return { name: identifier(env, 'CLICKHOUSE_CLUSTER', ''), shards }
}

const httpProtocols = ['http:', 'https:'] as const

/** All settings whose names begin with `prefix`, or none; without an endpoint it is Amazon's. */
function s3(env: Environment, prefix: string): S3Settings | null {
  const endpoint = url(env, `${prefix}_ENDPOINT`, ['http:', 'https:'])
  const bucket = env[`${prefix}_BUCKET`]
  if (!bucket) {
    if (endpoint)
      throw new StartError(`${prefix}_ENDPOINT needs ${prefix}_BUCKET: set both or neither`)
    return null
  }
  const needed = (name: string): string => {
    const given = env[name]
    if (!given) throw new StartError(`${name} is required with ${prefix}_BUCKET`)
    return given
  }
  return {
    endpoint,
    bucket,
    region: env[`${prefix}_REGION`] || 'us-east-1',
    accessKeyId: needed(`${prefix}_ACCESS_KEY_ID`),
    secretAccessKey: needed(`${prefix}_SECRET_ACCESS_KEY`),
  }
}

/** The store of backups; its prefix begins all keys, and ends with a slash unless it is empty. */
function backupS3(env: Environment): Config['backupS3'] {
  const settings = s3(env, 'FOOTFALL_BACKUP_S3')
  const given = env.FOOTFALL_BACKUP_S3_PREFIX ?? ''
  if (given !== '' && !/^[\w.-]+(\/[\w.-]+)*\/?$/.test(given))
    throw new StartError(
      `FOOTFALL_BACKUP_S3_PREFIX must be letters, digits, dots, hyphens, underscores and slashes, not "${given}"`,
    )
  const prefix = given === '' || given.endsWith('/') ? given : `${given}/`
  return settings && { ...settings, prefix }
}

const list = (env: Environment, name: string): string[] =>
  (env[name] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)

/** Names of hosts, addresses and CIDR ranges. */
function addresses(env: Environment, name: string): string[] {
  const given = list(env, name)
  const wrong = given.find(
    (each) => !/^[\w.-]+$/.test(each) && !isIP(each) && !ipaddr.isValidCIDR(each),
  )
  if (wrong !== undefined) {
    throw new StartError(
      `${name} must be hosts, addresses and CIDR ranges with commas between, not "${wrong}"`,
    )
  }
  return given
}

function networks(env: Environment, name: string): string[] {
  const given = list(env, name)
  const wrong = given.find((each) => !isIP(each) && !ipaddr.isValidCIDR(each))
  if (wrong !== undefined)
    throw new StartError(
      `${name} must be addresses and CIDR ranges with commas between, such as 10.0.0.18 or 10.0.0.0/24, not "${wrong}"`,
    )
  return given
}

/** Keys of 32 bytes. Like connection addresses, never repeated in an error. */
function keys(env: Environment, name: string): string[] {
  const given = list(env, name)
  if (given.some((key) => Buffer.from(key, 'base64').length !== 32)) {
    throw new StartError(
      `${name} must be 32 bytes as base64, such as \`openssl rand -base64 32\` makes`,
    )
  }
  return given
}

function integer(
  env: Environment,
  name: string,
  fallback: number,
  least: number,
  most: number,
): number {
  const given = env[name]
  if (!given) return fallback
  const value = Number(given)
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new StartError(`${name} must be a whole number from ${least} to ${most}, not "${given}"`)
  }
  return value
}

function oneOf<T extends string>(
  env: Environment,
  name: string,
  values: readonly T[],
  fallback: T,
): T {
  const given = env[name]
  if (!given) return fallback
  const value = values.find((candidate) => candidate === given)
  if (!value) throw new StartError(`${name} must be one of ${values.join(', ')}, not "${given}"`)
  return value
}

function flag(env: Environment, name: string, fallback: boolean): boolean {
  const given = env[name]
  if (!given) return fallback
  if (given === '1' || given === 'true') return true
  if (given === '0' || given === 'false') return false
  throw new StartError(`${name} must be true or false, not "${given}"`)
}

function identifier(env: Environment, name: string, fallback: string): string {
  const given = env[name] || fallback
  if (!/^[a-z_][a-z0-9_]{0,50}$/i.test(given)) {
    throw new StartError(`${name} must be letters, digits and underscores, not "${given}"`)
  }
  return given
}

/** Like connection addresses, never repeated in an error. */
/** The service and the API key that a command on another machine uses. */
export interface ApiLogin {
  /** FOOTFALL_URL, default http://127.0.0.1:8787: address of the service. */
  url: string
  /** FOOTFALL_API_KEY. */
  key: string
  /** FOOTFALL_API_SECRET. */
  secret: string
}

/** Reads and checks it. Throws StartError, naming the variable. */
export function readApiLogin(env: Environment): ApiLogin {
  const [key, secret] = [env.FOOTFALL_API_KEY, env.FOOTFALL_API_SECRET]
  if (!key || !secret)
    throw new StartError(
      'Set FOOTFALL_API_KEY and FOOTFALL_API_SECRET to an API key and its secret',
    )
  return {
    url: url(env, 'FOOTFALL_URL', ['http:', 'https:']) ?? 'http://127.0.0.1:8787',
    key,
    secret,
  }
}

function secret(env: Environment, name: string, charsMin: number): string | null {
  const given = env[name]
  if (!given) return null
  if (!/^[!-~]+$/.test(given) || given.length < charsMin) {
    throw new StartError(`${name} must be at least ${charsMin} printable characters without blanks`)
  }
  return given
}

/** Connection addresses may hold a password, so an error never repeats them. */
function url(env: Environment, name: string, protocols: readonly string[]): string | null {
  const given = env[name]
  if (!given) return null
  if (!isUrl(given, protocols)) {
    throw new StartError(
      `${name} must be an address that starts with ${protocols.join('// or ')}//`,
    )
  }
  return given
}

function natsSettings(env: Environment): NatsSettings | null {
  const servers = list(env, 'NATS_URL')
  if (servers.length === 0) return null
  if (!servers.every((server) => isUrl(server, ['nats:', 'tls:'])))
    throw new StartError(
      'NATS_URL must be a list of addresses that start with nats:// or tls://, separated by commas',
    )
  return {
    servers,
    prefix: identifier(env, 'FOOTFALL_LOG_PREFIX', 'footfall'),
    replicas: Number(oneOf(env, 'FOOTFALL_LOG_REPLICAS', ['1', '3'], '3')),
    whenAway: oneOf(env, 'FOOTFALL_LOG_AWAY', ['spool', 'refuse'], 'spool'),
  }
}

/** The address of a service in browsers, without a slash at its end. */
const baseUrl = (env: Environment, name: string): string | null =>
  url(env, name, ['http:', 'https:'])?.replace(/\/$/, '') ?? null

const isUrl = (given: string, protocols: readonly string[]): boolean =>
  URL.canParse(given) && protocols.includes(new URL(given).protocol)
