import { fieldNamed, isProfileField } from '../../../schemas/fields.ts'
import { ApiError } from '../../api/http/errors.ts'
import { type Filter, readFilterOf, valuesMax } from '../../events/query/filter/filter.ts'
import { everyTier, readSelection } from '../../events/query/page/parseEventsRequest.ts'
import { canonicalJson, isObject } from '../../platform/json.ts'
import {
  type AudienceLeaf,
  depthMax,
  type EventLeaf,
  entities,
  type IntentLeaf,
  type Leaf,
  type ListLeaf,
  leavesMax,
  type Parsed,
  type ProfileCondition,
  type ProfileLeaf,
  type Tree,
  withinDaysMax,
} from './definition.ts'
import { invalidAt, Members } from './invalid.ts'
import { isIdentifying, opsOf, valueTypeOf } from './profileOps.ts'

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

/** Throws 400 if the filters of event leaves have more values than one statement can bind. */
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

/** Longest text of an event leaf's filter, and of a value; URLs have the same limit. */
const filterCharsMax = 8_000
const valueCharsMax = 1_000
const atLeastMax = 1_000_000
/** Most topics of an intent leaf, and most characters of each. */
const topicsMax = 25
const topicCharsMax = 100

/** Reads the leaf `name` of the node at `pointer`. Throws 400 with the JSON pointer of the fault. */
function readLeaf(name: string, node: unknown, pointer: string): Leaf {
  const place = `${pointer}/${name}`
  switch (name) {
    case 'profile':
      return readProfileLeaf(node, place)
    case 'event':
      return readEventLeaf(node, place)
    case 'audience':
      return readAudienceLeaf(node, place)
    case 'intent':
      return readIntentLeaf(node, place)
    case 'list':
      return readListLeaf(node, place)
    default:
      throw invalidAt(
        pointer,
        'must have exactly one of all, any, not, profile, event, intent, list, audience',
      )
  }
}

function readProfileLeaf(node: unknown, pointer: string): ProfileLeaf {
  const members = new Members(node, pointer, ['field', 'op', 'value'])
  const name = members.text('field', 100)
  const field = fieldNamed(name)
  if (!field || !isProfileField(field))
    throw members.invalid('field', `there is no profile field "${name}"`)
  const op = members.oneOf('op', opsOf(field))
  const value = members.required('value')
  const place = `${pointer}/value`
  const type = valueTypeOf(field)

  /** Reads one comparison with the value at `place`. */
  const compare = (comparison: Filter['op'], compared: unknown, place: string): Filter => {
    if (typeof compared !== type) throw invalidAt(place, `must be a ${type}`)
    const text =
      type === 'string'
        ? new Members({ value: compared }, pointer, ['value']).text('value', valueCharsMax)
        : String(compared)
    return placed(place, () =>
      readFilterOf({ field: name, op: comparison, value: text }, everyTier),
    )
  }
  const list = (minimum: number, maximum: number): unknown[] => {
    if (Array.isArray(value) && value.length >= minimum && value.length <= maximum) return value
    throw invalidAt(
      place,
      minimum === maximum
        ? `must be an array of ${maximum} values`
        : `must be an array of ${minimum} to ${maximum} values`,
    )
  }
  const conditions = (): readonly ProfileCondition[] => {
    switch (op) {
      case 'is_set':
        if (typeof value !== 'boolean') throw invalidAt(place, 'must be a boolean')
        return [{ name, isSet: value }]
      case 'between': {
        const [lowest, highest] = list(2, 2)
        return [compare('gte', lowest, `${place}/0`), compare('lte', highest, `${place}/1`)]
      }
      case 'in': {
        const [first, ...others] = list(1, valuesMax).map((one, index) =>
          compare('eq', one, `${place}/${index}`),
        )
        return [{ ...first!, op, others }]
      }
      default:
        return [compare(op, value, place)]
    }
  }
  return { kind: 'profile', pointer, field: name, conditions: conditions() }
}

function readEventLeaf(node: unknown, pointer: string): EventLeaf {
  const members = new Members(node, pointer, [
    'event_type',
    'filter',
    'at_least',
    'within_days',
    'pixel_id',
  ])
  const withinDays = members.integer('within_days', 1, withinDaysMax)
  const atLeast = members.has('at_least') ? members.integer('at_least', 1, atLeastMax) : 1
  const eventType = members.has('event_type') ? members.text('event_type', 100) : null
  const filter = members.has('filter') ? members.text('filter', filterCharsMax) : null
  const pixelId = members.has('pixel_id') ? members.id('pixel_id') : null
  const ofType =
    eventType === null
      ? []
      : [
          placed(`${pointer}/event_type`, () =>
            readFilterOf({ field: 'event_type', op: 'eq', value: eventType }, everyTier),
          ),
        ]
  const { filters, source } = placed(`${pointer}/filter`, () =>
    readSelection(filter === null ? {} : { filter }, everyTier),
  )
  const identifying = filters.find(({ field }) => field && isIdentifying(field))
  if (identifying?.field) {
    const { name } = identifying.field
    throw members.invalid(
      'filter',
      `${name} identifies single people or events, which audiences do not allow`,
    )
  }
  const counted = canonicalJson({ event_type: eventType, filter, pixel_id: pixelId })
  return {
    kind: 'event',
    pointer,
    atLeast,
    withinDays,
    pixelId,
    counted,
    filters: [...ofType, ...filters],
    // Only campaigns have impressions.
    source: eventType === 'impression' ? null : source,
  }
}

/** Reads an intent leaf; leafTopics.ts checks that its topics exist. */
function readIntentLeaf(node: unknown, pointer: string): IntentLeaf {
  const members = new Members(node, pointer, ['topics', 'match', 'min_score'])
  const topics = members.required('topics')
  if (!Array.isArray(topics) || topics.length === 0 || topics.length > topicsMax) {
    throw members.invalid('topics', `must be an array of 1 to ${topicsMax} topics`)
  }
  for (const [index, topic] of topics.entries()) {
    const place = `${pointer}/topics/${index}`
    if (typeof topic !== 'string' || topic === '') throw invalidAt(place, 'must be a string')
    if (topic.length > topicCharsMax)
      throw invalidAt(place, `must have at most ${topicCharsMax} characters`)
    if (topics.indexOf(topic) !== index) throw invalidAt(place, 'must not be listed twice')
  }
  return {
    kind: 'intent',
    pointer,
    topics: topics as string[],
    match: members.has('match') ? members.oneOf('match', ['any', 'all']) : 'any',
    minScore: members.has('min_score') ? members.integer('min_score', 0, 100) : 0,
  }
}

function readListLeaf(node: unknown, pointer: string): ListLeaf {
  const members = new Members(node, pointer, ['list_id'])
  return { kind: 'list', pointer, listId: members.id('list_id') }
}

function readAudienceLeaf(node: unknown, pointer: string): AudienceLeaf {
  const members = new Members(node, pointer, ['audience_id'])
  return { kind: 'audience', pointer, audienceId: members.id('audience_id') }
}

function placed<T>(pointer: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof ApiError) throw invalidAt(pointer, error.message.replace(/^filter: /, ''))
    throw error
  }
}
