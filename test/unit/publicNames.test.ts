/** Commands and imports that readers copy: npm resolves only our packages, and those that a guide intends. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'

const ours = ['footfall-server', 'footfall-pixel', 'footfall-client']
/** Frameworks of the examples, and tools that guides name. */
const meant = [
  'astro',
  'next',
  'nuxt',
  'react',
  'react-dom',
  'svelte',
  'vue',
  'vite',
  '@sveltejs/kit',
  '@sveltejs/adapter-node',
]

const textFiles = execFileSync(
  'git',
  ['ls-files', 'README.md', 'CONTRIBUTING.md', 'collector', 'pixel', 'examples', 'schemas'],
  { cwd: packageRoot, encoding: 'utf8' },
)
  .split('\n')
  .filter((path) =>
    /\.(md|mdx?|tsx?|m?[jt]s|jsx|vue|svelte|astro|ya?ml|html|py|php|liquid)$/.test(path),
  )

const read = (path: string) => readFileSync(join(packageRoot, path), 'utf8')
const manifest = JSON.parse(read('package.json'))
const installed = ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap((kind) =>
  Object.keys(manifest[kind]),
)
const known = new Set([
  ...ours,
  ...meant,
  ...installed,
  ...builtinModules,
  ...installed.map((name) => name.replace('@types/', '')),
])

/** The package of a specifier: `@scope/name` or `name`. */
const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
    .replace(/^(@?[^@]+)@.*$/, '$1')
    .replace(/-VERSION\.tgz$/, '')

/** Names with where they stand. */
function namesIn(pattern: RegExp, paths: readonly string[]): [name: string, path: string][] {
  return paths.flatMap((path) =>
    [...read(path).matchAll(pattern)].map(([, name]): [string, string] => [packageOf(name!), path]),
  )
}
const strangers = (names: [string, string][]) => names.filter(([name]) => !known.has(name))

test('every command that npx would fetch is ours or a dependency', () => {
  const commands = namesIn(/\bnpx (?:-y |--yes |--no )?([@a-z][\w@./-]*)/g, textFiles)
  expect(commands.filter(([name]) => name === 'footfall-server').length).toBeGreaterThan(50)
  expect(strangers(commands)).toEqual([])
  expect(Object.keys(manifest.bin)).toEqual(['footfall-server'])
})

test('every package that guides install or import is ours or a dependency', () => {
  const installs = namesIn(
    /\bnpm (?:install|i|add) (?:-\S+ )*(?!without\b)([@a-z][\w@./-]*)/g,
    textFiles,
  )
  const imports = namesIn(
    /(?:\bfrom |\bimport |\bimport\()['"](?!node:)([@a-z][\w@./-]*)['"]/g,
    textFiles.filter((path) =>
      /^(README|collector\/docs|collector\/dashboard\/web|examples)/.test(path),
    ),
  )
  expect(imports.some(([name]) => name === 'footfall-client')).toBe(true)
  expect(strangers([...installs, ...imports])).toEqual([])
})

test('a configuration that starts a command names ours', () => {
  const configured = namesIn(/"args": \[\s*(?:"-y",\s*)?"([\w@./-]+)"/g, textFiles)
  expect(strangers(configured)).toEqual([])
})

test('the packages, the chart and the Python client have one version, which the changelog dates', () => {
  const { version } = manifest
  expect(read('examples/deploy/helm/Chart.yaml')).toContain(
    `\nversion: ${version}\nappVersion: ${version}\n`,
  )
  expect(read('examples/deploy/helm/values.yaml')).toContain(`tag: '${version}'`)
  expect(read('examples/clients/python/pyproject.toml')).toContain(`version = "${version}"`)
  expect(read('CHANGELOG.md')).toMatch(new RegExp(`^## ${version} - \\d{4}-\\d\\d-\\d\\d$`, 'm'))
})
