import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'

interface Entry {
  version?: string
  integrity?: string
  resolved?: string
  link?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
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

/** Places where Node searches a package: next to the importer, then further up. */
function find(from: string, name: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const path = join(at, 'node_modules', name)
    if (packages[path]) return path
    if (at === '.' || at === '') return undefined
  }
}

test('the lock file has every package that another asks for, those of other platforms too: npm ci works', () => {
  const missing = Object.entries(packages).flatMap(([path, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies })
      .filter((name) => !find(path, name))
      .map((name) => `${name} of ${path || 'footfall'}`),
  )
  expect(missing).toEqual([])
})

test('what brings a program of its own is pinned, by version and hash', () => {
  const { optionalDependencies = {} } = packages['']!
  expect(Object.keys(optionalDependencies)).not.toEqual([])
  for (const [name, version] of Object.entries(optionalDependencies)) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+/)
    expect(packages[`node_modules/${name}`], name).toMatchObject({
      version,
      integrity: expect.stringMatching(/^sha512-/),
    })
  }
})
