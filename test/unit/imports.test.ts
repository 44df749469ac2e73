import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'

/**
 * The table "Which wing imports which" of ARCHITECTURE.md: wing → what it may import. A wing may import those above it
 * in the table only, so there are no circles.
 */
const rules = new Map(
  [
    ...readFileSync(join(packageRoot, 'ARCHITECTURE.md'), 'utf8').matchAll(
      /^\| `collector\/(\w+)\/` \| (.+?) \|/gm,
    ),
  ].map(([, wing, imports]) => [wing!, [...imports!.matchAll(/`(\w+)`/g)].map(([, name]) => name!)]),
)

interface Import {
  file: string
  target: string
  isTypeOnly: boolean
}

const importsBelow = (folder: string): Import[] =>
  readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.d)\.m?tsx?$|\.mjs$/.test(name))
    .map((name) => join(folder, name))
    .flatMap((file) =>
      [
        ...readFileSync(join(packageRoot, file), 'utf8').matchAll(
          /^(?:import|export)(\s+type)?[^'"]*?from\s+'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'/gms,
        ),
      ].map((match) => ({
        file,
        target: relative(packageRoot, join(packageRoot, dirname(file), (match[2] ?? match[3])!)),
        isTypeOnly: match[1] !== undefined,
      })),
    )

/** `collector/people/load/load.ts` → `people`; null for the collector's own top-level files. */
const wingOf = (file: string): string | null => {
  const [top, wing, ...inside] = file.split(sep)
  return top === 'collector' && inside.length > 0 ? wing! : null
}

const outsideOf = (folder: string): Import[] =>
  importsBelow(folder).filter(({ target }) => !target.startsWith(folder + sep))

const notTypesOfSchemas = ({ target, isTypeOnly }: Import): boolean =>
  !isTypeOnly || !target.startsWith(`schemas${sep}`)

test('schemas import nothing of ours', () => {
  expect(outsideOf('schemas')).toEqual([])
})

test('the pixel takes only types from schemas, and nothing else of ours', () => {
  expect(outsideOf('pixel').filter(notTypesOfSchemas)).toEqual([])
})

test('the client imports nothing of ours; what generates it is launched as the service is', () => {
  const launchers = join('collector', 'launch') + sep
  expect(outsideOf('client').filter(({ target }) => !target.startsWith(launchers))).toEqual([])
})

test('the dashboard’s pages take the client, show examples, and take nothing else of ours', () => {
  const isTheirs = ({ target }: Import) =>
    target === join('client', 'index.ts') || target.startsWith(`examples${sep}`)
  expect(outsideOf(join('collector', 'dashboard', 'web')).filter((found) => !isTheirs(found))).toEqual([])
})

test('nothing but tests imports from test', () => {
  const all = ['schemas', 'pixel', 'client', 'collector'].flatMap(importsBelow)
  expect(all.filter(({ target }) => target.startsWith(`test${sep}`))).toEqual([])
})

test('every wing of the collector stands in the table, below all that it imports', () => {
  const wings = new Set(importsBelow('collector').flatMap(({ file }) => wingOf(file) ?? []))
  expect([...wings].filter((wing) => !rules.has(wing))).toEqual([])
  expect(rules.size).toBe(wings.size)
  const known = ['schemas', 'pixel', 'client', 'examples']
  for (const [wing, imports] of rules) {
    expect([wing, imports.filter((name) => !known.includes(name))]).toEqual([wing, []])
    known.push(wing)
  }
})

test('wings import only what the table lets them', () => {
  const wrong = importsBelow('collector').filter(({ file, target, isTypeOnly }) => {
    const from = wingOf(file)
    // main, worker, app and cli put the wings together.
    if (from === null) return false
    const to = wingOf(target) ?? target.split(sep)[0]!
    // Launchers go on with what was built.
    if (target.startsWith(`dist${sep}`)) return from !== 'launch'
    // Every wing may say which settings it takes.
    if (target === join('collector', 'config.ts')) return !isTypeOnly
    return to !== from && !rules.get(from)?.includes(to)
  })
  expect(wrong).toEqual([])
})

test('the table lets nobody import what nobody does', () => {
  const used = new Set(
    importsBelow('collector').map(
      ({ file, target }) => `${wingOf(file)} ${wingOf(target) ?? target.split(sep)[0]}`,
    ),
  )
  const unused = [...rules].flatMap(([wing, imports]) =>
    imports.filter((name) => !used.has(`${wing} ${name}`)).map((name) => `${wing} → ${name}`),
  )
  expect(unused).toEqual([])
})

test.each(['schemas', 'client', 'collector', 'test'])(
  'no file of %s imports itself by way of others',
  (folder) => {
    const imports = new Map<string, Import[]>()
    for (const found of importsBelow(folder)) {
      imports.set(found.file, [...(imports.get(found.file) ?? []), found])
    }
    // Whoever imports nobody who is left is in no circle.
    for (let before = 0; before !== imports.size; ) {
      before = imports.size
      for (const [file, found] of imports)
        if (!found.some(({ target }) => imports.has(target))) imports.delete(file)
    }
    expect([...imports.keys()]).toEqual([])
  },
)
