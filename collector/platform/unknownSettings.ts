/** Variables of the stores that Footfall reads. Their programs and images have others. */
const storeSettings =
  'CLICKHOUSE_URL CLICKHOUSE_SHARDS CLICKHOUSE_CLUSTER CLICKHOUSE_DATABASE DATABASE_URL NATS_URL'

/** All variables of the environment that Footfall reads, of those that begin like its settings. */
const settings = new Set([
  ...storeSettings.split(' '),
  ...`API_KEY API_SECRET BACKUP_S3_ACCESS_KEY_ID BACKUP_S3_BUCKET BACKUP_S3_ENDPOINT BACKUP_S3_PREFIX
   BACKUP_S3_REGION BACKUP_S3_SECRET_ACCESS_KEY EVENTS_PER_IP EVENTS_PER_PIXEL COLLECTOR_URL CONNECTIONS_MAX
   DATA_DIR DEMO DEMO_VISITS DRAIN_SECONDS FREE_ANSWERS_PER_DAY IDENTIFIES_PER_IP IP_DATABASE LAUNCHER_PID LOG_AWAY LOG_PREFIX LOG_REPLICAS
   METRICS_PORT METRICS_TOKEN OUTBOUND_ALLOW POSTGRES_CONNECTIONS_MAX PUBLIC_URL RATE_LIMITS READ_MEMORY_MB_MAX
   READ_SECONDS_MAX ROLE S3_ACCESS_KEY_ID S3_BUCKET S3_ENDPOINT S3_REGION S3_SECRET_ACCESS_KEY SAMPLE_DAYS SCAN_THREADS
   SECRET_KEY SPOOL_MB_MAX TRUSTED_PROXIES URL WORKERS`
    .split(/\s+/)
    .map((name) => `FOOTFALL_${name}`),
])

const beginsLikeSetting = /^(FOOTFALL_|CLICKHOUSE_|NATS_|DATABASE)/

/** Kubernetes adds such variables for each service: FOOTFALL_API_SERVICE_HOST, FOOTFALL_API_PORT_80_TCP. */
const isOfKubernetes = (name: string): boolean => /_SERVICE_(HOST|PORT)|_PORT(_\d+_|$)/.test(name)

/** Returns the variables that look like settings of Footfall but are none, such as a misspelled one. */
export const unknownSettings = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.keys(env)
    .filter((name) => beginsLikeSetting.test(name) && !settings.has(name) && !isOfKubernetes(name))
    .sort()
