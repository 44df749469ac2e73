import {
  fieldSql,
  hasProfile,
  hemAsNumber,
  hemNumber,
  isProfileField,
} from '../../../../schemas/fields.ts'
import type { Scope } from '../../../api/access/policy.ts'
import { cookiesOf, profileMeets, profileMeetsNone } from '../../../identity/store/profileSql.ts'
import { isHem } from '../../../platform/hem.ts'
import type { Bind } from '../bind.ts'
import { isUuidField } from '../columns.ts'
import { type Order, timeColumn, timeOf } from '../order.ts'
import type { Filter, Value } from './filter.ts'
import type { Bots, Selection } from './selection.ts'

/**
 * Returns the conditions of a selection. The scope always comes first. project_id and ts_millis are the
 * table's primary key, so they are compared without an expression.
 */
export function selectionConditions(
  { scope, source, window, filters, bots, order = 'desc' }: Selection & { order?: Order },
  bind: Bind,
): readonly string[] {
  const organizationId = bind('UUID', scope.organizationId)
  return [
    `organization_id = ${organizationId}`,
    ...projectCondition(scope, bind),
    ...(scope.pixelId === null ? [] : [`pixel_id = ${bind('UUID', scope.pixelId)}`]),
    ...(scope.campaignId === null ? [] : [`campaign_id = ${bind('String', scope.campaignId)}`]),
    ...(source === null ? [] : [`source = ${bind('String', source)}`]),
    `${timeColumn(order)} >= ${timeOf(order, bind('Int64', window.startMs))}`,
    `${timeColumn(order)} < ${timeOf(order, bind('Int64', window.endMs))}`,
    ...botsCondition(bots),
    ...filterConditions(filters, organizationId, bind),
  ]
}

/** Returns the condition over rows with is_bot; none if bots are included. */
export const botsCondition = (bots: Bots = 'included'): readonly string[] =>
  bots === 'included' ? [] : ['NOT is_bot']

/** Returns filters as conditions over rows of `events`; the organization is SQL. */
export function filterConditions(
  filters: readonly Filter[],
  organizationId: string,
  bind: Bind,
  payload = payloadOf(filters, bind),
): readonly string[] {
  return [
    ...filters
      .filter(isOfEvent)
      .flatMap((filter) => eventConditions(filter, organizationId, bind, payload)),
    ...profileConditions(
      filters.filter((filter) => !isOfEvent(filter)),
      bind,
    ),
  ]
}

const isOfEvent = ({ field }: Filter): boolean => field === undefined || !isProfileField(field)

/** ClickHouse computes the hem of a cookie for each row; its text would cost more than everything else. */
function eventConditions(
  filter: Filter,
  organizationId: string,
  bind: Bind,
  payload: Payload,
): readonly string[] {
  if (filter.field === hasProfile) {
    const isWanted = [filter, ...(filter.others ?? [])].map(
      ({ value }) => value === (filter.op !== 'ne'),
    )
    const meets = [profileMeets(['true']), profileMeetsNone(['true'])]
    return [`(${meets.filter((_, index) => isWanted.includes(index === 0)).join(' OR ')})`]
  }
  const isOfHem = filter.field?.name === 'hem' && (filter.op === 'eq' || filter.op === 'ne')
  if (!isOfHem || !isHem(String(filter.value))) return [filterCondition(filter, bind, payload)]
  const hem = bind('String', String(filter.value))
  if (filter.op === 'ne') return [`${hemNumber} != ${hemAsNumber(hem)}`]
  return [cookiesOf(organizationId, hem), `${hemNumber} = ${hemAsNumber(hem)}`]
}

/** One query of the profiles covers all required values, another one all excluded values. */
function profileConditions(filters: readonly Filter[], bind: Bind): readonly string[] {
  const required = filters
    .filter(({ op }) => op !== 'ne')
    .map((filter) => filterCondition(filter, bind))
  const excluded = filters
    .filter(({ op }) => op === 'ne')
    .map((filter) => filterCondition({ ...filter, op: 'eq' } as Filter, bind))
  return [
    ...(required.length > 0 ? [profileMeets(required)] : []),
    ...(excluded.length > 0 ? [profileMeetsNone(excluded)] : []),
  ]
}

/** The condition of an organization names its projects, by which the table is sorted. */
export function projectCondition({ projectId, projectIds }: Scope, bind: Bind): readonly string[] {
  if (projectId !== null) return [`project_id = ${bind('UUID', projectId)}`]
  if (projectIds === undefined || projectIds.length > projectsNamedMax) return []
  if (projectIds.length === 0) return ['false']
  return [`project_id IN (${projectIds.map((id) => bind('UUID', id)).join(', ')})`]
}

/** More projects are most of the table, and the values must fit into a URL. */
const projectsNamedMax = 500

const sqlOperators = {
  eq: '=',
  ne: '!=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  like: 'LIKE',
} as const

/** Returns a filter as a condition over rows with its columns. */
export function filterCondition(filter: Filter, bind: Bind, payload = payloadOf([], bind)): string {
  const left = leftSide(filter, payload)
  if (filter.op === 'in') {
    return `${left} IN ${rightSides(filter, bind)}`
  }
  const comparison = `${left} ${sqlOperators[filter.op]} ${rightSide(filter, bind)}`
  // In SQL a comparison with null is never true, but for a caller a missing value differs from the given one.
  const isNullable = filter.path !== undefined || filter.field.nullable
  return filter.op === 'ne' && isNullable ? `(${comparison} OR ${left} IS NULL)` : comparison
}

function leftSide(filter: Filter, payload: Payload): string {
  if (filter.path) return payload(filter.path, filter.as === 'number' ? 'Float64' : 'String')
  const { name } = filter.field
  // timestamp is computed from ts_millis, which the primary key contains.
  if (name === 'timestamp') return 'ts_millis'
  const sql = fieldSql(filter.field)
  return filter.as === 'text' && isUuidField(filter.field) ? `toString(${sql})` : sql
}

function rightSide(filter: Filter, bind: Bind): string {
  const isPattern = filter.op === 'like' && filter.as === 'text'
  return asOperand(
    filter,
    bind(typeOf(filter), isPattern ? likePattern(filter.value) : filter.value),
  )
}

/** Binds the values of `in` as one array, because ClickHouse accepts at most a thousand parameters. */
function rightSides(filter: Filter, bind: Bind): string {
  const operands: readonly Value[] = [filter, ...(filter.others ?? [])]
  // In an array literal only texts have quotation marks.
  const listed = operands.map(({ as, value }) => (as === 'integer' ? BigInt(value) : value))
  const values = bind(`Array(${typeOf(filter)})`, listed)
  const operand = asOperand(filter, 'value')
  return operand === 'value' ? values : `arrayMap(value -> ${operand}, ${values})`
}

const boundTypes = {
  text: 'String',
  uuid: 'UUID',
  integer: 'Int64',
  number: 'Float64',
  boolean: 'Bool',
  time: 'Int64',
} as const

const typeOf = ({ as }: Value) => boundTypes[as]

/** Returns SQL of a bound value in the type of the compared column. */
const asOperand = ({ as, field }: Filter, bound: string): string =>
  as === 'time' && field?.name !== 'timestamp' ? `fromUnixTimestamp64Milli(${bound}, 'UTC')` : bound

/**
 * Returns a pattern for LIKE. A backslash escapes %, _ and itself. Any other backslash is literal; ClickHouse
 * would refuse it at the end.
 */
export const likePattern = (pattern: string): string =>
  pattern.replace(/\\[%_\\]|\\/g, (part) => (part === '\\' ? '\\\\' : part))

/** SQL of the value in event_data at a path, as a nullable text or number. */
export type Payload = (path: readonly string[], as: 'String' | 'Float64') => string

/**
 * Returns how these filters read event_data. A single filter extracts its value from the text. Several
 * filters parse each object on their paths once for a row, because ClickHouse computes equal expressions
 * once.
 */
export function payloadOf(filters: readonly Filter[], bind: Bind): Payload {
  const intoPayload = filters.filter(({ path }) => path !== undefined)
  if (intoPayload.length < 2) {
    return (path, as) => {
      const segments = path.map((segment) => bind('String', segment)).join(', ')
      return `JSONExtract(event_data, ${segments}, 'Nullable(${as})')`
    }
  }
  const placeholders = new Map<string, string>()
  const bound = (segment: string) => {
    const placeholder = placeholders.get(segment) ?? bind('String', segment)
    placeholders.set(segment, placeholder)
    return placeholder
  }
  return (path, as) => {
    const text = path.reduce(
      (object, segment) =>
        `CAST(JSONExtractKeysAndValuesRaw(${object}), 'Map(String, String)')[${bound(segment)}]`,
      'event_data',
    )
    return `JSONExtract(${text}, 'Nullable(${as})')`
  }
}
