import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'

/** collector/rooms.json: each room with the rooms it may import. A room imports only rooms above it in the file. */
const rooms: Record<string, { imports: string[] }> = JSON.parse(
  readFileSync(join(packageRoot, 'collector/rooms.json'), 'utf8'),
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

/** `collector/identity/load/load.ts` → `identity`; null for the files at the top of `collector/`. */
const roomOf = (file: string): string | null => {
  const [top, room, ...inside] = file.split(sep)
  return top === 'collector' && inside.length > 0 ? room! : null
}

/** The name in rooms.json for an import: a room, `config.ts`, or a folder at the top. */
const nameOf = (file: string): string =>
  roomOf(file) ?? (file.startsWith(`collector${sep}`) ? file.split(sep)[1]! : file.split(sep)[0]!)

const client = join('collector', 'api', 'client')

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

test('the client imports nothing of ours', () => {
  expect(outsideOf(client)).toEqual([])
})

test('the dashboard’s pages take the client and time zones, show examples, and take nothing else of ours', () => {
  // Pages and the API must agree on where a day begins, so both read it from one file, which needs no Node.js.
  const taken = [join(client, 'index.ts'), join('collector', 'platform', 'timeZone.ts')]
  const isTheirs = ({ target }: Import) =>
    taken.includes(target) || target.startsWith(`examples${sep}`)
  expect(
    outsideOf(join('collector', 'dashboard', 'web')).filter((found) => !isTheirs(found)),
  ).toEqual([])
})

test('nothing but tests imports from test', () => {
  const all = ['schemas', 'pixel', 'collector'].flatMap(importsBelow)
  expect(all.filter(({ target }) => target.startsWith(`test${sep}`))).toEqual([])
})

test('rooms.json names every room, below all rooms that it imports', () => {
  const found = new Set(importsBelow('collector').flatMap(({ file }) => roomOf(file) ?? []))
  expect(Object.keys(rooms).toSorted()).toEqual([...found].toSorted())
  const known = ['schemas', 'pixel', 'examples', 'config.ts']
  for (const [room, { imports }] of Object.entries(rooms)) {
    expect([room, imports.filter((name) => !known.includes(name))]).toEqual([room, []])
    known.push(room)
  }
})

test('rooms import only what rooms.json allows', () => {
  const wrong = importsBelow('collector').filter(({ file, target }) => {
    const from = roomOf(file)
    // The files at the top of collector/ put the rooms together.
    if (from === null) return false
    // Launchers run what was built.
    if (target.startsWith(`dist${sep}`)) return from !== 'ops'
    const to = nameOf(target)
    return to !== from && !rooms[from]?.imports.includes(to)
  })
  expect(wrong).toEqual([])
})

test('rooms.json allows no import that is not used', () => {
  const used = new Set(
    importsBelow('collector').map(({ file, target }) => `${roomOf(file)} ${nameOf(target)}`),
  )
  const unused = Object.entries(rooms).flatMap(([room, { imports }]) =>
    imports.filter((name) => !used.has(`${room} ${name}`)).map((name) => `${room} → ${name}`),
  )
  expect(unused).toEqual([])
})

test.each(['schemas', 'pixel', 'collector', 'test'])(
  'no file of %s imports itself by way of others',
  (folder) => {
    const imports = new Map<string, Import[]>()
    for (const found of importsBelow(folder)) {
      imports.set(found.file, [...(imports.get(found.file) ?? []), found])
    }
    // A file without imports of remaining files is in no circle.
    for (let before = 0; before !== imports.size; ) {
      before = imports.size
      for (const [file, found] of imports)
        if (!found.some(({ target }) => imports.has(target))) imports.delete(file)
    }
    expect([...imports.keys()]).toEqual([])
  },
)

/** Of two files in one folder, or below it: the folder, and the member of it that each is or is in. */
function membersOf({ file, target }: Import): { folder: string; from: string; to: string } {
  const [a, b] = [file.split(sep), target.split(sep)]
  let depth = 0
  while (depth < Math.min(a.length, b.length) - 1 && a[depth] === b[depth]) depth++
  return { folder: a.slice(0, depth).join(sep), from: a[depth]!, to: b[depth]! }
}

test('in no folder of the collector, of the pixel and of schemas do files and subfolders import each other in a circle', () => {
  const folders = new Map<string, Map<string, Set<string>>>()
  for (const { folder, from, to } of ['schemas', 'pixel', 'collector']
    .flatMap(importsBelow)
    .map(membersOf)) {
    if (from === to) continue
    const members = folders.get(folder) ?? new Map<string, Set<string>>()
    folders.set(folder, members.set(from, (members.get(from) ?? new Set()).add(to)))
  }
  const circles = [...folders].flatMap(([folder, members]) => {
    // A member that imports no other remaining member is in no circle.
    for (let before = 0; before !== members.size; ) {
      before = members.size
      for (const [member, targets] of members)
        if (![...targets].some((target) => members.has(target))) members.delete(member)
    }
    return members.size > 0 ? [[folder, ...members.keys()]] : []
  })
  expect(circles).toEqual([])
})
