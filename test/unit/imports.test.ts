import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/paths.ts'

/** Which areas an area may import from, besides itself and the collector's own top-level files. */
const foundations = ['clickhouse', 'postgres', 'stores']
const rules: Record<string, string[]> = {
  stores: foundations,
  clickhouse: ['stores'],
  postgres: ['stores'],
  spool: ['clickhouse', 'postgres'],
  access: ['postgres'],
  accounts: ['access', 'clickhouse', 'identity', 'postgres'],
  ingest: ['access', 'spool', 'postgres'],
  check: [],
  identity: ['clickhouse'],
  billing: ['access', 'accounts', 'postgres'],
  events: ['access', 'billing', 'identity', 'clickhouse', 'postgres'],
  privacy: ['access', 'accounts', 'clickhouse', 'events', 'identity', 'postgres', 'spool'],
  visitors: ['access', 'billing', 'clickhouse', 'events', 'identity'],
  lookup: ['billing', 'events', 'identity'],
  contact: ['billing', 'clickhouse', 'events', 'identity'],
  statistics: ['access', 'clickhouse', 'events'],
  taxonomy: ['access'],
  campaigns: ['access', 'accounts', 'clickhouse', 'ingest', 'postgres', 'spool'],
  dashboard: ['access', 'accounts'],
  docs: ['access'],
  demo: ['access', 'accounts', 'campaigns', 'identity', 'ingest', 'clickhouse', 'postgres'],
}
/** Files that put the areas together: they may import any of them. */
const composers = ['main.ts', 'worker.ts', 'workers.ts', 'cli.ts', 'app.ts', 'deps.ts', 'openapi.ts']

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
          /^(?:import|export)(\s+type)?[^'"]*?from\s+'(\.[^']+)'/gms,
        ),
      ].map((match) => ({
        file,
        target: relative(packageRoot, join(packageRoot, dirname(file), match[2]!)),
        isTypeOnly: match[1] !== undefined,
      })),
    )

test('schemas import nothing of ours', () => {
  expect(importsBelow('schemas').filter(({ target }) => !target.startsWith(`schemas${sep}`))).toEqual([])
})

test('the pixel takes only types from schemas, and nothing else of ours', () => {
  const outside = importsBelow('pixel').filter(({ target }) => !target.startsWith(`pixel${sep}`))
  expect(
    outside.filter(({ target, isTypeOnly }) => !isTypeOnly || !target.startsWith(`schemas${sep}`)),
  ).toEqual([])
})

test('the dashboard’s pages take only types from schemas, and nothing else of ours', () => {
  const web = join('collector', 'dashboard', 'web')
  const outside = importsBelow(web).filter(({ target }) => !target.startsWith(web + sep))
  expect(
    outside.filter(({ target, isTypeOnly }) => !isTypeOnly || !target.startsWith(`schemas${sep}`)),
  ).toEqual([])
})

test('nothing but tests imports from test', () => {
  const all = ['schemas', 'pixel', 'collector'].flatMap(importsBelow)
  expect(all.filter(({ target }) => target.startsWith(`test${sep}`))).toEqual([])
})

test('areas of the collector import only what lies below them', () => {
  const wrong = importsBelow('collector').filter(({ file, target }) => {
    const [, from, ...rest] = file.split(sep)
    if (rest.length === 0)
      return !composers.includes(from!) && target.split(sep).length > 2 && target.startsWith('collector')
    const [top, area, ...inside] = target.split(sep)
    if (top === 'schemas' || inside.length === 0) return false
    // What the collector bakes into the script, and shows of it, the pixel defines.
    if (['accounts', 'ingest'].includes(from!) && top === 'pixel' && area !== 'src') return false
    return top !== 'collector' || (area !== from && !(rules[from!] ?? []).includes(area!))
  })
  expect(wrong.filter(({ file }) => !file.endsWith('build.mjs'))).toEqual([])
})

test('every area has a rule', () => {
  const areas = new Set(
    importsBelow('collector')
      .map(({ file }) => file.split(sep))
      .filter((parts) => parts.length > 2)
      .map((parts) => parts[1]),
  )
  expect([...areas].filter((area) => !(area! in rules))).toEqual([])
})
