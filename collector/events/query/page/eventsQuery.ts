/**
 * The SQL of a page of events. The call order, and the nesting of the SQL that results:
 *
 * - eventsQuery, if isSingleSelect: pageWithProfiles is one SELECT that also reads the profiles of its rows.
 * - eventsQuery, otherwise: pageInsideProfiles is SELECT fields, profiles, the next page's key FROM ( page ).
 *
 * Both call page(columns) ▶ pageSql:
 *
 * - If session columns are only shown, withSessionsOf (sessions.ts) joins hits to ( pageSql without them ).
 * - Without distinct: SELECT … FROM eventsSource WHERE … ORDER BY … LIMIT limit + 1.
 * - With distinct: SELECT … FROM ( newest event of each kind ) WHERE cursor … LIMIT limit + 1.
 *
 * The closure `page` lets the outer SELECT choose the columns of the inner one. These are the key columns,
 * and `_hem_number` if profiles are read. WHERE consists of the selection (filterSql.ts), the cursor,
 * `until`, and redundantBounds. These change no result but let ClickHouse stop early.
 */
import { type Field, fieldNamed, hemNumber, isProfileField } from '../../../../schemas/fields.ts'
import { isTable } from '../../../api/http/negotiateFormat.ts'
import { profileMembers, profileValues, withPerson } from '../../../identity/store/profileSql.ts'
import { profileTexts, runsOf } from '../../../identity/store/profileTexts.ts'
import type { ListQuery, Query } from '../../../platform/clickhouse/client.ts'
import { type Bind, bindings } from '../bind.ts'
import { type Column, columnsFrom, selectList, typedColumns, type ValueSql } from '../columns.ts'
import { eventsSource } from '../eventsSource.ts'
import { selectionConditions } from '../filter/filterSql.ts'
import {
  beforeHere,
  fromHereBack,
  fromHereOn,
  keyColumns,
  lastKey,
  newestFirst,
  type Order,
  orderBy,
  timeColumn,
  timeOf,
} from '../order.ts'
import { expectedConditions, listsOf, unchangedCondition } from '../profiles/expectedRecords.ts'
import { hasSessionColumns, isAboutSessions, withSessionsOf } from '../sessions.ts'
import { escapedFormula, escapedText } from './csvFormulas.ts'
import type { RowKey } from './cursor.ts'
import type { EventsPlan } from './eventsPlan.ts'
import { multiProjectBound } from './multiProjectBound.ts'
import { limitMax } from './parseEventsRequest.ts'
import { nextColumn, plainEncoding, type RowEncoding } from './rowEncoding.ts'

/** True when the columns of a plan include its key columns, so that a cursor can be read from any row. */
export const rowsShowTheirKey = ({ columns, order }: EventsPlan): boolean =>
  keyColumns(order).every((key) => columns.some(({ name }) => name === key))

/** The table of an estimate, which is bound as `events`: EXPLAIN ESTIMATE reads the table of one server. */
const eventsPlaceholder = '{events:Identifier}'

/** The query of a page's rows, in its order, and one more row, which shows the caller that there is a next page. */
export function eventsQuery(
  plan: EventsPlan,
  encoding: RowEncoding = plainEncoding,
): Query | ListQuery {
  const { bind, params } = bindings()
  const { columns, isForEstimate } = plan
  const events = isForEstimate ? eventsPlaceholder : 'events'
  const page = (selected: readonly Column[], declared?: string) =>
    pageSql(plan, columnsFrom(plan.source, selected), {
      bind,
      events,
      ...(declared && { declared }),
    })
  const sql = isSingleSelect(plan, encoding)
    ? pageWithProfiles(columns, encoding, page)
    : pageInsideProfiles(columns, encoding, page, {
        order: plan.order,
        isChecked: plan.expected !== undefined,
        ...(isTable(encoding.format) && { typed: typedColumns(plan.sampleNames, bind) }),
      })
  return {
    ...(plan.expected && listsOf(plan.expected)),
    sql: sql + boundSettings(plan),
    params,
  }
}

/**
 * Whether one SELECT can both find the rows and read their profiles. ClickHouse then plans one query instead
 * of two, and computes the fields only for the rows of the page. Impossible if a column is computed over all
 * rows (the next page's key), or if rows are removed, joined or checked after they were found. With several shards
 * ClickHouse 26.7 crashes on it.
 */
function isSingleSelect(
  { columns, filters, distinct, expected }: EventsPlan,
  encoding: RowEncoding,
): boolean {
  if (expected || encoding.leadsWithNext || isTable(encoding.format)) return false
  if (!columns.some(isProfileField)) return true
  const names = columns.map(({ name }) => name)
  return (
    encoding.isOfOneServer === true && distinct.length === 0 && !isAboutSessions(filters, names)
  )
}

/** Returns the SQL of a page as one SELECT (see isSingleSelect). */
function pageWithProfiles(
  columns: readonly Field[],
  encoding: RowEncoding,
  page: (selected: readonly Column[], declared?: string) => string,
): string {
  if (!columns.some(isProfileField))
    return page(columns.map(({ name, sql = name }) => ({ name, sql })))
  const { declared, selected } = selectWithProfile(columns, encoding, (_field, sql) => sql)
  return page(selected, `WITH ${[`${hemNumber} AS _hem_number`, ...declared].join(', ')}\n`)
}

/**
 * The SQL of events with the fields `columns`, in the order of the page. `page` returns the SQL of the events with the
 * columns that it gets. Profiles are read only for its rows. `isChecked` requires the expected records.
 */
export function pageInsideProfiles(
  columns: readonly Field[],
  encoding: RowEncoding,
  page: (inside: readonly Column[]) => string,
  { order, typed, isChecked }: { order: Order; typed?: ValueSql; isChecked: boolean },
): string {
  const valueSql: ValueSql =
    typed ?? (encoding.escapesFormulas ? escapedFormula : (_field, sql) => sql)
  const { declared, selected } = selectWithProfile(columns, encoding, valueSql)
  const hasProfiles = declared.length > 0
  const eventFields = columns.filter(
    (field) => !isProfileField(field) && !(hasProfiles && isOfHem(field)),
  )
  const inside = [...new Set([...eventFields.map(({ name }) => name), ...keyColumns(order)])].map(
    bare,
  )
  if (hasProfiles || isChecked) inside.push({ name: '_hem_number', sql: hemNumber })
  if (isChecked) inside.push(...checkedColumns)
  const next = { name: nextColumn, sql: lastKey(order) }
  return `${hasProfiles ? `WITH ${declared.join(', ')}\n` : ''}SELECT ${selectList([
    ...(encoding.leadsWithNext ? [next] : []),
    ...selected,
  ])}
FROM (
${page(inside)}
)${typed ? ' AS page' : ''}${isChecked ? `\nWHERE ${unchangedCondition('_project', '_event', hemFieldSql(fieldNamed('hem')!))}` : ''}
${typed ? orderBy(order, 'page') : orderBy(order)}`
}

/** The key of a record, by names that no column of the answer has. */
const checkedColumns: readonly Column[] = [
  { name: '_project', sql: 'project_id' },
  { name: '_event', sql: 'event_id' },
]

/**
 * The SELECT list over rows with `_hem_number`, and the expressions of its WITH. It depends on how profiles are encoded
 * (RowEncoding.profiles): as columns, as the ready members of a JSON object, or as one text for adjacent fields.
 */
function selectWithProfile(
  columns: readonly Field[],
  { profiles, membersOfNobody, escapesFormulas }: RowEncoding,
  valueSql: ValueSql,
): { declared: readonly string[]; selected: readonly Column[] } {
  const ofProfile = columns.filter(isProfileField)
  if (ofProfile.length === 0) {
    return { declared: [], selected: columns.map((field) => column(field, field.name, valueSql)) }
  }
  const eventColumn = (field: Field) =>
    column(field, isOfHem(field) ? hemFieldSql(field) : field.name, valueSql)
  if (profiles === 'columns') {
    const { declared, sqlOf } = profileValues(ofProfile)
    return {
      declared: [withPerson, declared],
      selected: columns.map((field) =>
        isProfileField(field) ? column(field, sqlOf(field), valueSql) : eventColumn(field),
      ),
    }
  }
  if (profiles === 'members') {
    const others = columns.filter((field) => !isProfileField(field))
    return {
      declared: [withPerson],
      selected: [...others.map(eventColumn), ...profileMembers(ofProfile, membersOfNobody)],
    }
  }
  const { declared, sqlOf } = profileTexts(
    ofProfile,
    profiles,
    escapesFormulas ? escapedText : undefined,
  )
  return {
    declared: [withPerson, declared],
    selected: runsOf(columns).map((piece) =>
      'length' in piece
        ? { name: piece.name, sql: sqlOf(piece.from, piece.length) }
        : eventColumn(piece),
    ),
  }
}

const column = (field: Field, sql: string, valueSql: ValueSql): Column => ({
  name: field.name,
  sql: valueSql(field, sql),
})

/** Whether a field is computed from the hem of a cookie. */
const isOfHem = ({ alias }: Field): boolean => alias?.includes(hemNumber) ?? false

/** The SQL of such a field over rows with `_hem_number`, which saves a lookup of the cookie. */
const hemFieldSql = ({ alias, columnType }: Field): string =>
  `CAST(${alias!.replaceAll(hemNumber, '_hem_number')}, '${columnType}')`

const bare = (name: string): Column => ({ name, sql: name })

/** Returns the SQL of the rows of a page, with `columns` (see the top of this file). */
function pageSql(
  plan: EventsPlan,
  columns: readonly Column[],
  { bind, events, declared = '' }: { bind: Bind; events: string; declared?: string },
): string {
  const decidesOverSessions = isAboutSessions(
    plan.filters,
    plan.distinct.map(({ name }) => name),
  )
  if (hasSessionColumns(columns) && !decidesOverSessions) {
    return withSessionsOf(columns, plan, bind, (inside) => pageSql(plan, inside, { bind, events }))
  }
  const from = eventsSource(plan, [], bind, events)
  const selected = selectList(columns)
  const all = [...selectionConditions(plan, bind), ...expectedConditions(plan.expected)]
  const after = [...cursorConditions(plan, bind), ...untilConditions(plan, bind)]
  const offset = plan.offset > 0 ? ` OFFSET ${bind('UInt32', plan.offset)}` : ''
  const limit = `LIMIT ${bind('UInt32', plan.limit + 1)}${offset}`
  if (plan.distinct.length === 0) {
    return `${declared}SELECT ${selected}
FROM ${from}
WHERE ${[...all, ...after, ...redundantBounds(plan, [...all, ...after], bind, events)].join('\n  AND ')}
${orderBy(plan.order)}
${limit}`
  }

  // The query chooses the newest event of each kind over the entire window, before it applies the cursor.
  // Otherwise a kind from an earlier page would appear again, with its second newest event.
  const kinds = plan.distinct.map(({ name }) => name).join(', ')
  const keys = keyColumns(plan.order).filter((key) => columns.every(({ name }) => name !== key))
  return `SELECT ${columns.map(({ name }) => name).join(', ')}
FROM (
SELECT ${[selected, ...keys].join(', ')}
FROM ${from}
WHERE ${all.join('\n  AND ')}
${newestFirst}
LIMIT 1 BY ${kinds}
)${after.length > 0 ? `\nWHERE ${after.join('\n  AND ')}` : ''}
${orderBy(plan.order)}
${limit}`
}

/** Conditions that change no result, but keep ClickHouse from reading everything after the page. */
const redundantBounds = (
  plan: EventsPlan,
  where: readonly string[],
  bind: Bind,
  events: string,
): readonly string[] => [
  ...receivedBound(plan, where, bind, events),
  ...multiProjectBound(plan, { where, rows: rowsAsked(plan), events }, bind),
]

/** How many rows the query of a page requests, including those that OFFSET skips. */
const rowsAsked = ({ limit, offset }: EventsPlan): number => limit + 1 + offset

/** A page whose window is longer than this gets a bound. The bound costs as much as a page of a client that polls. */
const boundedFromMs = 60_000

const isBounded = ({ order, cursor, until, window }: EventsPlan): boolean =>
  order === 'received' &&
  !until &&
  window.endMs - (cursor?.from.millis ?? window.startMs) > boundedFromMs

/**
 * Bounds a page in the order of arrival by the `received_at` of its last row. To find this row ClickHouse
 * sorts by one column, for which the index of each granule's minimum suffices. So the cost does not grow with
 * the rest of the feed.
 */
function receivedBound(
  plan: EventsPlan,
  where: readonly string[],
  bind: Bind,
  events: string,
): readonly string[] {
  if (!isBounded(plan)) return []
  return [
    `received_at <= (SELECT max(received_at) FROM (
SELECT received_at FROM ${events} WHERE ${where.join('\n  AND ')}
ORDER BY received_at LIMIT ${bind('UInt32', rowsAsked(plan))}
))`,
  ]
}

/** ClickHouse uses that index by default up to this number of rows. */
const topRowsDefault = 1_000

/**
 * Raises two limits of ClickHouse: for the bound above, and, for the largest page, for reading columns only after its
 * rows are known. The largest page requests one row more than ClickHouse's default limit.
 */
function boundSettings(plan: EventsPlan): string {
  const rows = rowsAsked(plan)
  const settings = [
    ...(isBounded(plan) && rows > topRowsDefault
      ? [`query_plan_max_limit_for_top_k_optimization = ${rows}`]
      : []),
    ...(plan.limit === limitMax
      ? [`query_plan_max_limit_for_lazy_materialization = ${limitMax + 1}`]
      : []),
  ]
  return settings.length > 0 ? `\nSETTINGS ${settings.join(', ')}` : ''
}

/** The first of the two comparisons is redundant, but the primary key can use it. */
function cursorConditions({ cursor, order }: EventsPlan, bind: Bind): readonly string[] {
  if (!cursor) return []
  const op = fromHereOn(order)
  return comparedWith(cursor.from, { order, timeOp: op, op }, bind)
}

const untilConditions = ({ until, order }: EventsPlan, bind: Bind): readonly string[] =>
  until
    ? comparedWith(until, { order, timeOp: fromHereBack(order), op: beforeHere(order) }, bind)
    : []

function comparedWith(
  { millis, eventId }: RowKey,
  { order, timeOp, op }: { order: Order; timeOp: string; op: string },
  bind: Bind,
): readonly string[] {
  const time = timeOf(order, bind('Int64', millis))
  const id = bind('UUID', eventId)
  return [
    `${timeColumn(order)} ${timeOp} ${time}`,
    `(${keyColumns(order).join(', ')}) ${op} (${time}, ${id})`,
  ]
}
