import { depthMax, entities, type Leaf, leavesMax, type Parsed, type Tree } from './definition.ts'
import { invalidAt, isObject, Members } from './invalid.ts'
import { readLeaf } from './readLeaf.ts'

/** The highest limit of an audience's members. */
const limitMax = 1_000_000_000

/** The most comparisons, and named paths, of all event leaves together. */
const comparisonsMax = 400

const root = '/definition'

/**
 * Checks a definition. Throws 400 "invalid_parameter" with the JSON pointer of the fault. references.ts looks
 * up the pixels and audiences that it names.
 */
export function parseDefinition(value: unknown): Parsed {
  const members = new Members(value, root, ['entity', 'include', 'exclude', 'limit'])
  const entity = members.oneOf('entity', entities)
  const leaves: Leaf[] = []
  const include = readTree(members.required('include'), `${root}/include`, 1, leaves)
  if (isMetByNobody(include)) {
    throw invalidAt(
      `${root}/include`,
      'must have conditions in addition to "not", because it would match everybody',
    )
  }
  const exclude = members.has('exclude')
    ? readTree(members.required('exclude'), `${root}/exclude`, 1, leaves)
    : null
  requireFewComparisons(leaves)
  const limit = members.has('limit') ? members.integer('limit', 1, limitMax) : null
  return { entity, include, exclude, limit, leaves }
}

const branches = ['all', 'any', 'not'] as const

function readTree(value: unknown, pointer: string, depth: number, leaves: Leaf[]): Tree {
  if (depth > depthMax) throw invalidAt(pointer, `must be nested at most ${depthMax} levels deep`)
  if (!isObject(value)) throw invalidAt(pointer, 'must be an object')
  const [name, ...others] = Object.keys(value)
  if (name === undefined || others.length > 0) {
    throw invalidAt(
      pointer,
      'must have exactly one of all, any, not, profile, event, intent, list, audience',
    )
  }
  const branch = branches.find((candidate) => candidate === name)
  if (branch === undefined) {
    const leaf = readLeaf(name, value[name], pointer)
    if (leaves.push(leaf) > leavesMax) throw tooMany(pointer)
    return { leaf: leaves.length - 1 }
  }
  const inside = (child: unknown, place: string) =>
    readTree(child, `${pointer}/${place}`, depth + 1, leaves)
  if (branch === 'not') return { not: inside(value.not, 'not') }
  const children = value[branch]
  if (!Array.isArray(children) || children.length === 0) {
    throw invalidAt(`${pointer}/${branch}`, 'must be an array of at least one node')
  }
  if (children.length > leavesMax) throw tooMany(`${pointer}/${branch}`)
  const trees = children.map((child, index) => inside(child, `${branch}/${index}`))
  return branch === 'all' ? { all: trees } : { any: trees }
}

const tooMany = (pointer: string) =>
  invalidAt(pointer, `a definition has at most ${leavesMax} leaves`)

/** Whether a tree matches a person who matches no leaf, and so all possible people. */
function isMetByNobody(tree: Tree): boolean {
  if ('leaf' in tree) return false
  if ('not' in tree) return !isMetByNobody(tree.not)
  return 'all' in tree ? tree.all.every(isMetByNobody) : tree.any.some(isMetByNobody)
}

/**
 * Throws 400 if the filters of event leaves together exceed the number of values in one ClickHouse statement.
 */
function requireFewComparisons(leaves: readonly Leaf[]): void {
  let comparisons = 0
  for (const leaf of leaves) {
    if (leaf.kind !== 'event') continue
    comparisons += leaf.filters.reduce((sum, { path = [] }) => sum + 1 + path.length, 0)
    if (comparisons > comparisonsMax) {
      throw invalidAt(
        leaf.pointer,
        `the filters of a definition can have at most ${comparisonsMax} comparisons and path names together`,
      )
    }
  }
}
