import { expect, test } from 'vitest'
import { replicated, unreplicated } from '../../../../collector/platform/clickhouse/replicated.ts'

const made = `CREATE TABLE IF NOT EXISTS links (hem String)
ENGINE = ReplacingMergeTree(seen_at)
ORDER BY hem`

test('a table of replicas remembers the tokens of inserts that it would remember on one server', () => {
  const path = "'/clickhouse/tables/{database}/{shard}/003_links/links', '{replica}'"
  const long = 'replicated_deduplication_window_seconds = 2592000'
  expect(replicated(made, '003_links')).toBe(`CREATE TABLE IF NOT EXISTS links (hem String)
ENGINE = ReplicatedReplacingMergeTree(${path}, seen_at)
ORDER BY hem
SETTINGS replicated_deduplication_window = 0, ${long}`)
  const remembering = `${made}\nSETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1\nAS SELECT 1`
  expect(replicated(remembering, '003_links')).toContain(
    `\nSETTINGS replicated_deduplication_window = 1000, ${long}, non_replicated_deduplication_window = 1000, fsync_after_insert = 1\nAS SELECT 1`,
  )
})

test('what makes no table of rows stays as it is', () => {
  for (const sql of [
    'ALTER TABLE links DROP COLUMN a',
    'CREATE TABLE IF NOT EXISTS lines (a Int8)\nENGINE = Null',
  ])
    expect(replicated(sql, '003_links')).toBe(sql)
})

test('one server’s own table of the same rows has the engine without its path', () => {
  const rest = 'PARTITION BY a ORDER BY hem SETTINGS index_granularity = 8192'
  expect(
    unreplicated(`ReplicatedReplacingMergeTree('/a/{shard}/b', '{replica}', seen_at) ${rest}`),
  ).toBe(`ReplacingMergeTree(seen_at) ${rest}`)
  expect(unreplicated(`ReplicatedMergeTree('/a', '{replica}') ${rest}`)).toBe(`MergeTree() ${rest}`)
  for (const engine of [`ReplacingMergeTree(seen_at) ${rest}`, `MergeTree ${rest}`])
    expect(unreplicated(engine)).toBe(engine)
})
