import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../../collector/platform/paths.ts'
import { unknownSettings } from '../../../collector/platform/unknownSettings.ts'

const read = (path: string) => readFileSync(join(packageRoot, path), 'utf8')

test('every setting that config.ts reads, and every one of the guide, is known', () => {
  const inCode = read('collector/config.ts').match(/'FOOTFALL_[A-Z0-9_]+'/g)!
  const inGuide = read('collector/docs/operations.md').match(/`FOOTFALL_[A-Z0-9_]+`/g)!
  // FOOTFALL_S3 is the prefix of five settings.
  const names = [...inCode, ...inGuide]
    .map((name) => name.slice(1, -1))
    .filter((name) => !/^FOOTFALL_(BACKUP_)?S3$/.test(name))
  expect(names.length).toBeGreaterThan(60)
  expect(unknownSettings(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([])
})

test('a misspelled setting is named; variables of others are not', () => {
  const env = {
    FOOTFALL_WORKER: '3',
    FOOTFALL_DRAIN_SECS: '5',
    FOOTFALL_WORKERS: '3',
    CLICKHOUSE_URL: 'http://a',
    CLICKHOUSE_SHARD: 'http://a',
    CLICKHOUSE_PORT_8123_TCP: 'tcp://10.0.0.1:8123',
    NATS_URLS: 'nats://a',
    NATS_SERVICE_HOST: '10.0.0.1',
    DATABASE_URI: 'postgres://a',
    FOOTFALL_API_SERVICE_HOST: '10.0.0.1',
    FOOTFALL_API_PORT_80_TCP_ADDR: '10.0.0.1',
    FOOTFALL_API_PORT: 'tcp://10.0.0.1:80',
    PATH: '/bin',
  }
  expect(unknownSettings(env)).toEqual([
    'CLICKHOUSE_SHARD',
    'DATABASE_URI',
    'FOOTFALL_DRAIN_SECS',
    'FOOTFALL_WORKER',
    'NATS_URLS',
  ])
})
