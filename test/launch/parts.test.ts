import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'

test('the four parts of the tests are the whole, and no file is in two of them', () => {
  const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const parts = ['unit', 'api', 'browser', 'chaos'].flatMap((part) =>
    scripts[`test:${part}`]!.split(' ').filter((word) => /^test\/\w+$/.test(word)),
  )
  const files = globSync('test/**/*.test.ts', { cwd: packageRoot })
  const folders = new Set(files.map((file) => file.split('/').slice(0, 2).join('/')))
  expect(parts.toSorted()).toEqual([...folders].sort())
})
