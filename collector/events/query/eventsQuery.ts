import { type Field, hemNumber, isProfileField } from '../../../schemas/fields.ts'
import { isTable } from '../../api/http/negotiateFormat.ts'
import { profileMembers, profileValues, withPerson } from '../../identity/store/profileSql.ts'
import { profileTexts, runsOf } from '../../identity/store/profileTexts.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { type Bind, bindings } from './bind.ts'
import { type Column, columnsFrom, selectList } from './columns.ts'
import { escapedFormula, escapedText } from './csvFormulas.ts'
import type { RowKey } from './cursor.ts'
import { eventsPlace, eventsSource } from './eventsSource.ts'
import { selectionConditions } from './filterSql.ts'
import { multiProjectBound } from './multiProjectBound.ts'
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
} from './order.ts'
import { limitMax } from './parseEventsRequest.ts'
import { nextColumn, plainEncoding, type RowEncoding } from './rowEncoding.ts'
import type { EventsPlan } from './selection.ts'
import { hasSessionColumns, isAboutSessions, withSessionsOf } from './sessions.ts'
import { typedColumns, type ValueSql } from './typedColumns.ts'

/** True when the rows of a plan show their own place, so that a cursor can be read from any of them. */
export const rowsShowTheirKey = ({ columns, order }: EventsPlan): boolean =>
  keyColumns(order).every((key) => columns.some(({ name }) => name === key))

/**
 * The rows of a page, in its order, and one more, by which the caller knows that there are more. Profiles are looked
 * up for these rows alone.
 */
export function eventsQuery(plan: EventsPlan, encoding: RowEncoding = plainEncoding): Query {
  const { bind, params } = bindings()
  const { columns } = plan
  const { events, asked } = eventsPlace(
    plan,
    columns.map(({ name }) => name),
  )
  const page = (selected: readonly Column[], declared?: string) =>
    pageSql(plan, columnsFrom(plan.source, selected), {
      bind,
      events,
      ...(declared && { declared }),
    })
  const isOfOneServer = encoding.isOfOneServer || asked.pixelId !== undefined
  const sql = isOneSelect(plan, { ...encoding, isOfOneServer })
    ? pageWithProfiles(columns, encoding, page)
    : withProfilesOf(columns, encoding, page, {
        order: plan.order,
        ...(isTable(encoding.format) && { typed: typedColumns(plan.sampleNames, bind) }),
      })
  return { ...asked, sql: sql + boundSettings(plan), params: { ...params, ...asked.params } }
}

/**
 * Whether all that rows show can stand in the SELECT that finds them: ClickHouse computes it for the rows of the page
 * alone, and plans one query instead of two. Not where something is said over all rows, or where rows are left out or
 * joined after they were found; nor over the table of all shards, where ClickHouse 26.7 crashes on it.
 */
function isOneSelect({ columns, filters, distinct }: EventsPlan, encoding: RowEncoding): boolean {
  if (encoding.leadsWithNext || isTable(encoding.format)) return false
  if (!columns.some(isProfileField)) return true
  const names = columns.map(({ name }) => name)
  return (
    encoding.isOfOneServer === true && distinct.length === 0 && !isAboutSessions(filters, names)
  )
}

/** SQL of a page as one SELECT; see isOneSelect. */
function pageWithProfiles(
  columns: readonly Field[],
  encoding: RowEncoding,
  page: (selected: readonly Column[], declared?: string) => string,
): string {
  if (!columns.some(isProfileField)) return page(columns.map(({ name }) => bare(name)))
  const { declared, selected } = withProfile(columns, encoding, (_field, sql) => sql)
  return page(selected, `WITH ${[`${hemNumber} AS _hem_number`, ...declared].join(', ')}\n`)
}

/**
 * SQL of events that have the fields `columns`, in their order. `page` is asked for the SQL of the events themselves,
 * with the columns it is given; profiles are looked up for its rows alone.
 */
export function withProfilesOf(
  columns: readonly Field[],
  encoding: RowEncoding,
  page: (inside: readonly Column[]) => string,
  { order, typed }: { order: Order; typed?: ValueSql },
): string {
  const shown: ValueSql =
    typed ?? (encoding.escapesFormulas ? escapedFormula : (_field, sql) => sql)
  const { declared, selected } = withProfile(columns, encoding, shown)
  const hasProfiles = declared.length > 0
  const ofEvent = columns.filter(
    (field) => !isProfileField(field) && !(hasProfiles && isOfHem(field)),
  )
  const inside = [...new Set([...ofEvent.map(({ name }) => name), ...keyColumns(order)])].map(bare)
  if (hasProfiles) inside.push({ name: '_hem_number', sql: hemNumber })
  const next = { name: nextColumn, sql: lastKey(order) }
  return `${hasProfiles ? `WITH ${declared.join(', ')}\n` : ''}SELECT ${selectList([
    ...(encoding.leadsWithNext ? [next] : []),
    ...selected,
  ])}
FROM (
${page(inside)}
)${typed ? ' AS page' : ''}
${typed ? orderBy(order, 'page') : orderBy(order)}`
}

/**
 * What is selected of rows that have `_hem_number`, where fields of profiles are among `columns`, and what stands in
 * WITH for it.
 */
function withProfile(
  columns: readonly Field[],
  { profiles, membersOfNobody, escapesFormulas }: RowEncoding,
  shown: ValueSql,
): { declared: readonly string[]; selected: readonly Column[] } {
  const ofProfile = columns.filter(isProfileField)
  if (ofProfile.length === 0) {
    return { declared: [], selected: columns.map((field) => column(field, field.name, shown)) }
  }
  const ofEvent = (field: Field) =>
    column(field, isOfHem(field) ? ofHemNumber(field) : field.name, shown)
  if (profiles === 'columns') {
    const { declared, sqlOf } = profileValues(ofProfile)
    return {
      declared: [withPerson, declared],
      selected: columns.map((field) =>
        isProfileField(field) ? column(field, sqlOf(field), shown) : ofEvent(field),
      ),
    }
  }
  if (profiles === 'members') {
    const others = columns.filter((field) => !isProfileField(field))
    return {
      declared: [withPerson],
      selected: [...others.map(ofEvent), ...profileMembers(ofProfile, membersOfNobody)],
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
        : ofEvent(piece),
    ),
  }
}

const column = (field: Field, sql: string, shown: ValueSql): Column => ({
  name: field.name,
  sql: shown(field, sql),
})

/** Whether a field is computed from whom a cookie belongs to. */
const isOfHem = ({ alias }: Field): boolean => alias?.includes(hemNumber) ?? false

/** SQL of such a field over rows that have `_hem_number`: whose a cookie is need not be found out once more. */
const ofHemNumber = ({ alias, columnType }: Field): string =>
  `CAST(${alias!.replaceAll(hemNumber, '_hem_number')}, '${columnType}')`

const bare = (name: string): Column => ({ name, sql: name })

function pageSql(
  plan: EventsPlan,
  columns: readonly Column[],
  { bind, events, declared: first = '' }: { bind: Bind; events: string; declared?: string },
): string {
  const decidesOverSessions = isAboutSessions(
    plan.filters,
    plan.distinct.map(({ name }) => name),
  )
  if (hasSessionColumns(columns) && !decidesOverSessions) {
    return withSessionsOf(
      columns,
      plan,
      bind,
      (inside) => pageSql(plan, inside, { bind, events }),
      events,
    )
  }
  const { declared, from } = eventsSource(plan, [], bind, events)
  const selected = selectList(columns)
  const all = selectionConditions(plan, bind)
  const after = [...cursorConditions(plan, bind), ...untilConditions(plan, bind)]
  const offset = plan.offset > 0 ? ` OFFSET ${bind('UInt32', plan.offset)}` : ''
  const limit = `LIMIT ${bind('UInt32', plan.limit + 1)}${offset}`
  if (plan.distinct.length === 0) {
    return `${first}${declared}SELECT ${selected}
FROM ${from}
WHERE ${[...all, ...after, ...boundOf(plan, [...all, ...after], bind, events)].join('\n  AND ')}
${orderBy(plan.order)}
${limit}`
  }

  // Which event is the newest of its kind is decided over the whole window, before the cursor cuts it: otherwise a
  // kind that an earlier page has shown would come again with its second newest event.
  const kinds = plan.distinct.map(({ name }) => name).join(', ')
  const keys = keyColumns(plan.order).filter((key) => columns.every(({ name }) => name !== key))
  return `SELECT ${columns.map(({ name }) => name).join(', ')}
FROM (
${declared}SELECT ${[selected, ...keys].join(', ')}
FROM ${from}
WHERE ${all.join('\n  AND ')}
${newestFirst}
LIMIT 1 BY ${kinds}
)${after.length > 0 ? `\nWHERE ${after.join('\n  AND ')}` : ''}
${orderBy(plan.order)}
${limit}`
}

/** A condition that says nothing new, but keeps a page from looking at all that comes after it. */
const boundOf = (
  plan: EventsPlan,
  where: readonly string[],
  bind: Bind,
  events: string,
): readonly string[] => [
  ...receivedBound(plan, where, bind, events),
  ...multiProjectBound(plan, { where, rows: rowsAsked(plan), events }, bind),
]

/** How many rows the query of a page asks for, those that are left out at its begin included. */
const rowsAsked = ({ limit, offset }: EventsPlan): number => limit + 1 + offset

/** A page that may have to pass over more time than this is worth a bound; it costs as much as a page of one that polls. */
const boundedFromMs = 60_000

const isBounded = ({ order, cursor, until, window }: EventsPlan): boolean =>
  order === 'received' &&
  !until &&
  window.endMs - (cursor?.from.millis ?? window.startMs) > boundedFromMs

/**
 * When the last row of a page in the order of arrival was received: a condition that says nothing new, but keeps the
 * page from reading all that came after it. Ordered by this one column, ClickHouse finds its least values by the index
 * of each granule's least, so what a page reads does not grow with what remains.
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

/** Up to so many rows it does that by itself. */
const topRowsDefault = 1_000

/**
 * Of the largest page, too, the columns that only its rows need are read when it is known which rows these are: it asks
 * for one row more than ClickHouse does that for by itself.
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

/** The first comparison says nothing new, but the primary key understands it. */
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
