import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import tiers from '../tiers.json' with { type: 'json' }

test('each folder of tests belongs to one tier', () => {
  const files = globSync('test/**/*.test.ts', { cwd: packageRoot })
  const folders = new Set(files.map((file) => file.split('/')[1]!))
  expect([...tiers.quick, ...tiers.slow].sort()).toEqual([...folders].sort())
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
