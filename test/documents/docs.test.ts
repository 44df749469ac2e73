/** README and guides: every relative link leads to a file and a heading, and the guide of operators has every setting. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'

const guides = 'collector/docs'
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(packageRoot, guides)).map((name) => join(guides, name)),
]
const readText = (path: string) => readFileSync(join(packageRoot, path), 'utf8')
const withoutCode = (text: string) => text.replace(/^```.*?^```/gms, '')

/** The anchor that a heading has on GitHub. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')

const anchorsOf = (path: string) =>
  [...withoutCode(readText(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!))

const linksOf = (path: string) =>
  [...withoutCode(readText(path)).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(
    ([link, file, anchor]) => ({
      link,
      target: file ? normalize(join(dirname(path), file)) : path,
      anchor,
    }),
  )

test.each(documents)('the links of %s resolve', (path) => {
  const broken = linksOf(path).filter(
    ({ target, anchor }) =>
      !existsSync(join(packageRoot, target)) ||
      (anchor !== undefined && !anchorsOf(target).includes(anchor)),
  )
  expect(broken).toEqual([])
})

test('README links every guide', () => {
  const linked = linksOf('README.md').map(({ target }) => target)
  expect(documents.filter((path) => path !== 'README.md' && !linked.includes(path))).toEqual([])
})

test('every benchmark that a guide names exists', () => {
  const existing = readText('test/bench/main.ts')
  const named = documents.flatMap((path) =>
    [...readText(path).matchAll(/npm run bench -- ([a-z -]+)/g)].flatMap(([, names]) =>
      names!.trim().split(' '),
    ),
  )
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => !new RegExp(`^  '?${name}'?[,:]`, 'm').test(existing))).toEqual([])
})

test('README has at most 200 lines', () => {
  expect(readText('README.md').split('\n').length - 1).toBeLessThanOrEqual(200)
})

test('the operations guide lists every setting that the environment has', () => {
  const names = new Set(
    readText('collector/config.ts').match(
      /(?<=env\.|['(, ]')(?:[A-Z][A-Z0-9]+_[A-Z0-9_]*[A-Z0-9]|PORT|HOST)\b/g,
    ),
  )
  for (const store of ['FOOTFALL_S3', 'FOOTFALL_BACKUP_S3'])
    for (const part of ['ENDPOINT', 'BUCKET', 'REGION', 'ACCESS_KEY_ID', 'SECRET_ACCESS_KEY'])
      names.add(`${store}_${part}`)
  expect(names.size).toBeGreaterThan(30)
  const table = readText(join(guides, 'operations.md'))
    .match(/^\| `[^|]+`.* \|/gm)!
    .join('\n')
  const isListed = (name: string) =>
    table.includes(`\`${name}\``) ||
    table.includes(`\`${name.replace(/^FOOTFALL_(BACKUP_)?S3/, '')}\``)
  expect([...names].filter((name) => !isListed(name))).toEqual([])
})
