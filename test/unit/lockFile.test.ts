import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'

interface Entry {
  version?: string
  integrity?: string
  resolved?: string
  link?: boolean
}
const { packages } = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Entry>
}
const entries = Object.entries(packages).filter(([path]) => path !== '')

test('every package that is installed is pinned by its hash, for every platform', () => {
  expect(entries.length).toBeGreaterThan(300)
  const unpinned = entries.filter(
    ([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
  )
  expect(unpinned.map(([path]) => path)).toEqual([])
})

test('the lock file names no registry, so that any mirror serves', () => {
  expect(entries.filter(([, { resolved, link }]) => resolved !== undefined || link)).toEqual([])
})
