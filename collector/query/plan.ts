import { type Field, fieldNamed, fieldsAt, isReadableAt, type Tier } from '../../schemas/fields.ts'
import { isUuid } from '../../schemas/uuid.ts'
import type { RequestedScope, Scope } from '../access/scope.ts'
import { invalidParameter } from '../http/errors.ts'
import { readEscapesFormulas } from './csvFormulas.ts'
import type { Cursor } from './cursor.ts'
import { type Filter, readFilters } from './filter.ts'
import { type Order, orders } from './order.ts'
import { isAboutSessions } from './sessions.ts'
import { instantMsMax, readWindow, type Window, type WindowParameters } from './window.ts'

/** The spec's values of `source`. */
export const sources = ['pixel', 'svcdsp'] as const
export type Source = (typeof sources)[number]

/** What a route that has no tier of its own knows: every field. */
export const everyTier: Tier = 'resolution_full_profile'

/** Which events a read is about. The scope comes from the principal, never from the request alone. */
export interface Selection {
  readonly scope: Scope
  /** Null reads both, or what else of the selection decides. */
  readonly source: Source | null
  readonly window: Window
  readonly filters: readonly Filter[]
}

/** A page of events. */
export interface EventsPlan extends Selection {
  /** In the order of the answer. */
  readonly columns: readonly Field[]
  /** True when nothing was selected: the columns are all of the tier. */
  readonly hasAllColumns: boolean
  /** In CSV, texts that a spreadsheet would run are escaped. */
  readonly escapesFormulas?: boolean
  /** Of the events that share these fields only the newest is returned; empty returns all. */
  readonly distinct: readonly Field[]
  readonly limit: number
  /** How many rows to pass over (versions 1 and 2); not together with a cursor. */
  readonly offset: number
  readonly cursor: Cursor | null
  readonly order: Order
}

/** What counts are grouped by; `name` is the key in the answer. */
export interface Group {
  readonly name: string
  readonly sql: string
}

/** Counts of events. */
export interface CountsPlan extends Selection {
  readonly groups: readonly Group[]
  /** Distinct combinations of these fields are counted too; empty counts events only. */
  readonly distinct: readonly Field[]
  /** Most groups in the answer. */
  readonly limit: number
}

/** A plan that still lacks its scope, and the scope parameters the request came with. */
export interface Asked<Plan extends Selection> {
  readonly asked: RequestedScope
  readonly plan: Omit<Plan, 'scope'>
}

/** The parts of a request that a plan is read from. */
export interface ReadRequest {
  readonly query: unknown
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export const limitDefault = { events: 100, counts: 1000 } as const
export const limitMax = 10_000

export const scopeParameters = ['project_id', 'pixel_id', 'campaign_id'] as const
export const windowParameters = ['start_ms', 'end_ms', 'start_time', 'end_time'] as const
export const selectionParameters = [
  ...scopeParameters,
  ...windowParameters,
  'source',
  'filter',
  'distinct',
  'limit',
] as const

export const eventsParameters = [...selectionParameters, 'select', 'order', 'cursor', 'csv_formulas'] as const
export const schemaParameters = [...scopeParameters, 'source'] as const

/**
 * Reads a request for a page of events at `tier`; `readCursor` reads what its cursor holds. Throws 400 that names the
 * parameter.
 */
export function readEventsRequest(
  request: ReadRequest,
  tier: Tier,
  nowMs: number,
  readCursor: (cursor: string) => Cursor,
): Asked<EventsPlan> {
  const given = readParameters(request.query, eventsParameters)
  const cursor = given.cursor === undefined ? null : readCursor(given.cursor)
  const order = readOrder(given.order, cursor)
  const selection = readSelection(given, tier)
  if (order === 'received' && selection.distinct.length > 0) {
    throw invalidParameter('distinct', 'cannot be combined with order=received, which never ends')
  }
  // What is read is not in the order of sessions, which late events change.
  if (order === 'received' && isAboutSessions(selection.filters)) {
    throw invalidParameter('filter', 'cannot ask for fields of sessions with order=received')
  }
  const isWindowGiven = windowParameters.some((name) => given[name] !== undefined)
  return {
    asked: readScope(given, request),
    plan: {
      ...selection,
      window: cursor && !isWindowGiven ? cursor.window : readOrderedWindow(given, nowMs, order),
      hasAllColumns: given.select === undefined,
      escapesFormulas: readEscapesFormulas(given.csv_formulas),
      columns: given.select === undefined ? fieldsAt(tier) : readFields('select', given.select, tier),
      limit: readLimit(given.limit, limitDefault.events),
      offset: 0,
      cursor,
      order,
    },
  }
}

/**
 * Reads a request for a schema. Both sources have the same fields; the types of events are those of `source`, or of
 * both when it is null. Throws 400 that names the parameter.
 */
export function readSchemaRequest(request: ReadRequest): { asked: RequestedScope; source: Source | null } {
  const given = readParameters(request.query, schemaParameters)
  return { asked: readScope(given, request), source: readSource(given.source) }
}

/** What every read of events has, however its scope and its window are given. */
export function readSelection(
  given: Partial<Record<'source' | 'campaign_id' | 'filter' | 'distinct' | 'group_by', string>>,
  tier: Tier,
) {
  const filters = given.filter === undefined ? [] : readFilters(given.filter, tier)
  const distinct = given.distinct === undefined ? [] : readFields('distinct', given.distinct, tier)
  const named = [...filters.map(({ field }) => field), ...distinct].map((field) => field?.name)
  named.push(...(given.group_by?.split(',') ?? []))
  // A project is its pixels (spec: Query parameters of tier routes): DSP events are read where they are spoken of.
  const isAboutCampaigns =
    given.campaign_id !== undefined || campaignFields.some((name) => named.includes(name))
  const source = readSource(given.source) ?? (isAboutCampaigns ? null : 'pixel')
  return { source, filters, distinct }
}

const campaignFields = ['source', 'campaign_id', 'spend']

/** The query as a record of single strings. Throws 400 for a parameter that is not `allowed`, or given twice. */
export function readParameters<Name extends string>(
  query: unknown,
  allowed: readonly Name[],
): Partial<Record<Name, string>> {
  const given: Partial<Record<Name, string>> = {}
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    const known = allowed.find((candidate) => candidate === name)
    if (!known) throw invalidParameter(name, 'there is no such parameter here')
    if (typeof value !== 'string') throw invalidParameter(name, 'is given more than once')
    given[known] = value
  }
  return given
}

export function readScope(
  given: Partial<Record<(typeof scopeParameters)[number], string>>,
  { headers }: ReadRequest,
): RequestedScope {
  const headerProjectId = readUuid('X-Project-Id', headers['x-project-id']?.toString())
  const projectId = readUuid('project_id', given.project_id)
  if (projectId && headerProjectId && projectId !== headerProjectId) {
    throw invalidParameter('project_id', 'differs from the X-Project-Id header')
  }
  if (given.campaign_id === '') throw invalidParameter('campaign_id', 'is empty')
  return {
    projectId: projectId ?? headerProjectId,
    pixelId: readUuid('pixel_id', given.pixel_id),
    campaignId: given.campaign_id,
  }
}

export function readUuid(parameter: string, text: string | undefined): string | undefined {
  if (text !== undefined && !isUuid(text)) throw invalidParameter(parameter, 'must be a uuid')
  return text?.toLowerCase()
}

export function readSource(text: string | undefined): Source | null {
  if (text === undefined) return null
  const source = sources.find((candidate) => candidate === text)
  if (!source) throw invalidParameter('source', `must be ${sources.join(' or ')}`)
  return source
}

/** A feed goes on for ever, unless its end is given. */
function readOrderedWindow(given: WindowParameters, nowMs: number, order: Order): Window {
  const window = readWindow(given, nowMs)
  const isEndGiven = given.end_ms !== undefined || given.end_time !== undefined
  return order === 'received' && !isEndGiven ? { ...window, endMs: instantMsMax } : window
}

/** The order of a page; a page that follows another is in the same one. */
function readOrder(text: string | undefined, cursor: Cursor | null): Order {
  if (text === undefined) return cursor?.order ?? 'desc'
  const order = orders.find((candidate) => candidate === text)
  if (!order) throw invalidParameter('order', `must be ${orders.join(', ')}`)
  if (cursor && cursor.order !== order) {
    throw invalidParameter('order', `differs from the cursor, which belongs to order=${cursor.order}`)
  }
  return order
}

export function readLimit(text: string | undefined, fallback: number, most = limitMax): number {
  if (text === undefined) return fallback
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > most) throw invalidParameter('limit', `must be a whole number from 1 to ${most}`)
  return limit
}

export function readFields(parameter: string, list: string, tier: Tier): readonly Field[] {
  return readNames(parameter, list).map((name) => readField(parameter, name, tier))
}

export function readNames(parameter: string, list: string): readonly string[] {
  const names = list.split(',')
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw invalidParameter(parameter, `names "${repeated}" twice`)
  return names
}

function readField(parameter: string, name: string, tier: Tier): Field {
  const field = fieldNamed(name)
  if (!field) throw invalidParameter(parameter, `there is no field "${name}"`)
  if (!isReadableAt(field, tier)) {
    throw invalidParameter(parameter, `"${name}" is not part of ${tier}: it takes ${field.tier}`)
  }
  return field
}
