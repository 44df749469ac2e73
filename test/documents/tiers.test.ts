import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import tiers from '../tiers.json' with { type: 'json' }

test('each folder of tests belongs to one tier; a folder in one of the slow tier may be quick', () => {
  const files = globSync('test/**/*.test.ts', { cwd: packageRoot })
  const folders = new Set(files.map((file) => file.split('/')[1]!))
  const nested = tiers.quick.filter((folder) => folder.includes('/'))
  const whole = tiers.quick.filter((folder) => !folder.includes('/'))
  expect([...whole, ...tiers.slow].sort()).toEqual([...folders].sort())
  expect(nested.filter((folder) => !tiers.slow.includes(folder.split('/')[0]!))).toEqual([])
})

test('every test that the list of rules names exists', () => {
  const rules = readFileSync(join(packageRoot, 'test/spec/README.md'), 'utf8')
  const named = [...rules.matchAll(/`([\w./*]+\.test\.ts)`/g)].map(([, path]) => path!)
  const missing = named.filter((path) =>
    path.includes('*')
      ? globSync(path, { cwd: join(packageRoot, 'test') }).length === 0
      : !existsSync(join(packageRoot, 'test', path)),
  )
  expect(missing).toEqual([])
})
