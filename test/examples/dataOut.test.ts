/** The examples for other tools: each request of the Grafana dashboard is answered, and dbt's columns are the archive's. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { archivedFields } from '../../collector/activation/archives/hourQuery.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import type { Answering } from '../harness/service.ts'
import { openTenant } from '../harness/sharedApp.ts'

interface Target {
  url: string
  root_selector: string
  columns: { selector: string }[]
  url_options: { method: string; params: { key: string; value: string }[] }
}

const read = (path: string) => readFileSync(join(packageRoot, 'examples', path), 'utf8')

let service: Answering
beforeAll(async () => {
  service = (await openTenant({ hasVisitors: true })).service
})
afterAll(() => service?.stop())

test('each panel of the Grafana dashboard finds its columns in the answer of the API', async () => {
  const { demo, url } = service
  const dashboard = JSON.parse(read('grafana/footfall-analytics.json'))
  const values: Record<string, string> = {
    '${footfall}': url,
    '${project_id}': demo.project_id,
    '${__from}': String(Date.now() - 7 * 86_400_000),
    '${__to}': String(Date.now()),
  }
  const filled = (text: string) => text.replace(/\$\{\w+\}/g, (name) => values[name] ?? name)
  const targets: Target[] = dashboard.panels.flatMap(
    ({ targets }: { targets: Target[] }) => targets,
  )
  expect(targets.length).toBeGreaterThan(3)
  for (const { url, url_options, root_selector, columns } of targets) {
    const query = new URLSearchParams(
      url_options.params.map(({ key, value }) => [key, filled(value)]),
    )
    const answer = await fetch(`${filled(url)}?${query}`, {
      method: url_options.method,
      headers: { 'x-api-key': demo.api_key, 'x-api-secret': demo.api_secret },
    })
    const body = await answer.json()
    expect({ url, status: answer.status, body }).toMatchObject({ status: 200 })
    const rows = root_selector
      .split('.')
      .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], body)
    expect({ url, rows }).toEqual({ url, rows: expect.any(Array) })
    for (const row of (rows as object[]).slice(0, 1))
      for (const { selector } of columns) expect({ url, row }).toHaveProperty(['row', selector])
  }
})

test('the dbt source has the columns of the archive', () => {
  const { sources } = parse(read('dbt/sources.yml'))
  const [table] = sources[0].tables
  expect(table.columns.map(({ name }: { name: string }) => name)).toEqual([
    'project',
    'day',
    ...archivedFields.map(({ name }) => name),
  ])
  expect(sources[0].meta.external_location).toContain('project=*/day=*/*.parquet')
})
