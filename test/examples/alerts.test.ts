/** The shipped alert rules fire on the metrics of a service, from its first fault on. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService } from '../harness/service.ts'

const rules = join(packageRoot, 'examples/deploy/alerts.yaml')
const where = 'instance="collector1:8787",job="footfall"'

let directory: string
let service: Service
let fresh: string
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-alerts-'))
  service = await startService({ env: await ownDatabases() })
  // A route has its counters from its first request on.
  await fetch(`${service.url}/healthz`)
  fresh = await (await fetch(`${service.url}/metrics`)).text()
})
afterAll(async () => {
  await service?.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** A counter as Prometheus scrapes it each 30 seconds: absent unless a service without faults reports it, then `after`. */
function counter(name: string, labels: string, after: string) {
  const isThere = fresh.split('\n').includes(`${name}{${labels}} 0`)
  return { series: `${name}{${labels},${where}}`, values: `${isThere ? '0x4' : '_x4'} ${after}` }
}

const gauge = (name: string, labels: string, value: number) => ({
  series: `${name}{${labels && `${labels},`}${where}}`,
  values: `${value}x300`,
})

interface Expectation {
  alert: string
  /** When Prometheus is asked. */
  at: string
  series: () => { series: string; values: string }[]
  labels: Record<string, string>
  summary: string
}

const page = { severity: 'page' }
const ticket = { severity: 'ticket' }
const instance = 'collector1:8787'

const expectations: Expectation[] = [
  {
    alert: 'FootfallDown',
    at: '5m',
    series: () => [gauge('up', '', 0)],
    labels: { ...page, instance, job: 'footfall' },
    summary: `${instance} does not answer`,
  },
  {
    alert: 'FootfallSpoolWaits',
    at: '5m',
    series: () => [gauge('footfall_spool_oldest_seconds', 'table="events"', 90)],
    labels: { ...page, instance, table: 'events' },
    summary: `events of ${instance} waits for ClickHouse, the oldest for 1m 30s`,
  },
  {
    alert: 'FootfallShardDown',
    at: '5m',
    series: () => [gauge('footfall_clickhouse_shard_up', 'shard="1"', 0)],
    labels: { ...page, shard: '1' },
    summary: 'shard 1 of ClickHouse answers no machine',
  },
  {
    alert: 'FootfallLogDown',
    at: '5m',
    series: () => [gauge('footfall_log_up', 'log="nats"', 0)],
    labels: { ...page, instance, job: 'footfall', log: 'nats' },
    summary: `${instance} is not connected to NATS`,
  },
  {
    alert: 'FootfallLogFallsBack',
    at: '10m',
    series: () => [{ series: `footfall_log_fallback_rows_total{${where}}`, values: '0+10x300' }],
    labels: { ...ticket, instance },
    summary: `${instance} keeps events in its spool, because NATS does not store them`,
  },
  {
    alert: 'FootfallSpoolFills',
    at: '5m',
    series: () => [
      gauge('footfall_spool_bytes', 'table="events"', 6 * 1024 ** 3),
      gauge('footfall_spool_max_bytes', '', 10 * 1024 ** 3),
    ],
    labels: { ...page, instance },
    summary: `the spool of ${instance} is half full (6GiB); when it is full, beacons are refused`,
  },
  {
    alert: 'FootfallDiskFills',
    at: '10m',
    series: () => [
      gauge('footfall_spool_bytes', 'table="events"', 1024 ** 3),
      gauge('footfall_spool_max_bytes', '', 10 * 1024 ** 3),
      gauge('footfall_spool_disk_free_bytes', '', 8 * 1024 ** 3),
    ],
    labels: { ...ticket, instance },
    summary: `the disk of ${instance} has 8GiB free, less than its spool may still need`,
  },
  {
    alert: 'FootfallPoolWaits',
    at: '10m',
    series: () => [gauge('footfall_postgres_connections', 'state="waiting"', 3)],
    labels: { ...ticket, instance },
    summary: `requests on ${instance} wait for a connection to PostgreSQL`,
  },
  ...['busy', 'internal_error'].map((error) => ({
    alert: 'FootfallBeaconsRefused',
    at: '5m',
    series: () => [counter('footfall_beacons_refused_total', `error="${error}"`, '20x300')],
    labels: { ...page, instance },
    summary: `${instance} takes no beacons`,
  })),
  {
    alert: 'FootfallSlowAcknowledgement',
    at: '20m',
    series: () =>
      [
        { le: '0.5', values: '0x300' },
        { le: '1', values: '0+10x300' },
        { le: '+Inf', values: '0+10x300' },
      ].map(({ le, values }) => ({
        series: `footfall_ack_seconds_bucket{le="${le}",${where}}`,
        values,
      })),
    labels: { ...ticket, instance },
    summary: `beacons wait for the disk of ${instance}`,
  },
  {
    alert: 'FootfallClockWrong',
    at: '5m',
    series: () => [gauge('footfall_clock_ahead_seconds', '', -90)],
    labels: { ...ticket, instance, job: 'footfall' },
    summary: `the clock of ${instance} differs from that of PostgreSQL by 1m 30s`,
  },
  ...['events', 'identity_links', 'rejected_events'].map((table) => ({
    alert: 'FootfallDeadLetters',
    at: '5m',
    series: () => [counter('footfall_dead_letters_total', `table="${table}"`, '3x300')],
    labels: { ...ticket, instance, job: 'footfall', table },
    summary: `ClickHouse refuses rows for ${table} of ${instance}`,
  })),
  ...['500', '503'].map((status) => ({
    // Rises once: the rate is above 0 for as long as its range, which is as long as the alert waits.
    alert: 'FootfallServerErrors',
    at: '7m30s',
    series: () => [
      counter(
        'footfall_http_requests_total',
        `method="GET",route="/healthz",status="${status}"`,
        '40x1 41x300',
      ),
    ],
    labels: { ...page, route: '/healthz' },
    summary: '100% of the answers of /healthz are errors of ours',
  })),
  {
    alert: 'FootfallJobsFail',
    at: '20m',
    series: () => [gauge('footfall_jobs', 'queue="audiences.build",state="failed"', 2)],
    labels: { ...ticket, queue: 'audiences.build' },
    summary: '2 jobs of audiences.build have failed for good',
  },
  {
    alert: 'FootfallUsageUnreported',
    at: '2h10m',
    series: () => [gauge('footfall_usage_reports_unsent', '', 3)],
    labels: ticket,
    summary: 'Stripe has not taken 3 reports of usage',
  },
]

/** What promtool says of rules and series; empty where every expectation holds. */
async function promtool(tests: object[]): Promise<string> {
  const file = join(directory, 'tests.json')
  writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '30s', tests }))
  const answer = promisify(execFile)('promtool', ['test', 'rules', file], {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  })
  return answer.then(
    () => '',
    ({ stdout, stderr, message }) => `${message}${stdout}${stderr}`,
  )
}

test.each(expectations)(
  '$alert fires ($labels)',
  async ({ alert, at, series, labels, summary }) => {
    const expected = { exp_labels: labels, exp_annotations: { summary } }
    const asked = [{ eval_time: at, alertname: alert, exp_alerts: [expected] }]
    expect(
      await promtool([{ interval: '30s', input_series: series(), alert_rule_test: asked }]),
    ).toBe('')
  },
)

test('every alert is tested, and none fires on a service without faults', async () => {
  const names = [...readFileSync(rules, 'utf8').matchAll(/- alert: (\w+)/g)].map(
    ([, name]) => name!,
  )
  expect([...new Set(expectations.map(({ alert }) => alert))].sort()).toEqual([...names].sort())
  const input_series = [
    { series: `up{${where}}`, values: '1x300' },
    ...fresh
      .split('\n')
      .filter((line) => /^footfall_[a-z_]+(\{|\s)/.test(line) && !/ [Nn]a[Nn]$/.test(line))
      .map((line) => /^(footfall_[a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line)!)
      .map(([, name, labels, value]) => ({
        series: `${name}{${labels ? `${labels},` : ''}${where}}`,
        values: `${value}x300`,
      })),
  ]
  const asked = names.map((alertname) => ({ eval_time: '2h20m', alertname, exp_alerts: [] }))
  expect(await promtool([{ interval: '30s', input_series, alert_rule_test: asked }])).toBe('')
})
