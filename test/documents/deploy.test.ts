/** examples/deploy names only metrics, settings, commands and files that there are. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ofLocalStores } from '../../collector/ops/launch/packages.mjs'
import { registry } from '../../collector/platform/metrics.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
// Registers the metric of its pools.
import '../../collector/platform/postgres/pool.ts'

const directory = join(packageRoot, 'examples/deploy')
const readText = (path: string) => readFileSync(join(packageRoot, path), 'utf8')
const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  .filter((name) => statSync(join(directory, name)).isFile())
  .map((name) => ({ name, text: readFileSync(join(directory, name), 'utf8') }))
const textOf = (name: string) => files.find((file) => file.name === name)!.text

const distinct = (text: string, pattern: RegExp) => [...new Set(text.match(pattern))]

test('alerts and dashboard ask for metrics that there are, with labels that they have', async () => {
  const metrics = await registry.getMetricsAsJSON()
  const names = metrics.flatMap(({ name, type }) =>
    String(type) === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
  )
  const used = ['alerts.yaml', 'grafana-dashboard.json'].flatMap((name) =>
    distinct(textOf(name), /footfall_[a-z_]+/g),
  )
  expect(used.length).toBeGreaterThan(20)
  expect(used.filter((name) => !names.includes(name))).toEqual([])
})

test('the operations guide explains every alert', () => {
  const alerts = [...textOf('alerts.yaml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name!)
  const explained = [
    ...readText('collector/docs/operations.md').matchAll(/^\| (Footfall\w+) \|/gm),
  ].map(([, name]) => name!)
  expect(explained.sort()).toEqual(alerts.sort())
})

test('the operations guide lists the settings that the files name', () => {
  const table = readText('collector/docs/operations.md')
    .match(/^\| `.+$/gm)!
    .join('\n')
  const isNamed = (name: string) =>
    table.includes(name) || table.includes(`\`${name.replace('FOOTFALL_S3', '')}\``)
  for (const { name, text } of files)
    expect([
      name,
      distinct(text, /\bFOOTFALL_[A-Z0-9_]*[A-Z0-9]\b/g).filter((setting) => !isNamed(setting)),
    ]).toEqual([name, []])
})

test('the Dockerfile leaves out the packages of local stores, as the package does, and the browser', () => {
  const local = /^ARG LOCAL="(.+)"$/m.exec(textOf('Dockerfile'))![1]!
  const removed = [...ofLocalStores, 'playwright-core'].map((name) => `[${name}]`)
  expect(local.split(' ').sort()).toEqual(removed.sort())
  const { optionalDependencies } = JSON.parse(readText('package.json'))
  expect(Object.keys(optionalDependencies)).toEqual(expect.arrayContaining(ofLocalStores))
})

test('the dashboard’s panels do not lie upon each other', () => {
  const { panels } = JSON.parse(textOf('grafana-dashboard.json')) as {
    panels: {
      gridPos: { x: number; y: number; w: number; h: number }
      targets: { expr: string }[]
    }[]
  }
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  for (const { targets } of panels) expect(targets.length).toBeGreaterThan(0)
})

describe('Compose', () => {
  const compose = ['compose.yaml', 'compose.cluster.yaml']

  test.each(compose)('%s mounts and builds what is there', (name) => {
    const paths = [...textOf(name).matchAll(/['" ](\.\.?\/[\w./]+?):\//g)].map(([, path]) => path!)
    expect(paths.length).toBeGreaterThan(0)
    for (const path of [...paths, '../../examples/deploy/Dockerfile'])
      expect([path, existsSync(join(directory, path))]).toEqual([path, true])
  })

  test.each(compose)('.env.example names the variables that %s requires', (name) => {
    const required = [...textOf(name).matchAll(/\$\{(\w+):\?\}/g)].map(([, variable]) => variable!)
    const given = [...textOf('.env.example').matchAll(/^(\w+)=/gm)].map(([, variable]) => variable!)
    expect(given).toEqual(expect.arrayContaining([...new Set(required)]))
  })

  test('the replicas of the cluster are the same for Footfall, ClickHouse and Keeper', () => {
    const compose = textOf('compose.cluster.yaml')
    const services = (kind: string) =>
      [...compose.matchAll(new RegExp(`^ {2}(${kind}\\d):`, 'gm'))].map(([, name]) => name!)
    const hosts = (text: string, pattern: RegExp) =>
      [...text.matchAll(pattern)].map(([, name]) => name!)
    const replicas = services('clickhouse')
    expect(replicas).toHaveLength(3)
    const configured = textOf('clickhouse/cluster.xml')
    expect(hosts(compose, /@(clickhouse\d):8123/g)).toEqual(replicas)
    expect(hosts(configured, /<host>(clickhouse\d)</g)).toEqual(replicas)
    const keepers = services('keeper')
    expect(keepers).toHaveLength(3)
    expect(hosts(configured, /<host>(keeper\d)</g)).toEqual(keepers)
    expect(hosts(textOf('clickhouse/keeper.xml'), /<hostname>(keeper\d)</g)).toEqual(keepers)
  })

  test('HAProxy’s servers are the services of the cluster', () => {
    const servers = [...textOf('haproxy.cfg').matchAll(/^ {2}server (\w+) (\w+):8787$/gm)].map(
      ([, name]) => name!,
    )
    const services = [
      ...textOf('compose.cluster.yaml').matchAll(/^ {2}((?:collector|api)\d):/gm),
    ].map(([, name]) => name!)
    expect(servers).toEqual(services)
  })
})
