import { groupableFields, isIdentityField } from '../../schemas/fields.ts'
import { invalidParameter } from '../http/errors.ts'
import {
  type Asked,
  type CountsPlan,
  type EventsPlan,
  everyTier,
  type Group,
  limitDefault,
  type ReadRequest,
  readLimit,
  readNames,
  readParameters,
  readScope,
  readSelection,
  selectionParameters,
} from './plan.ts'
import { readWindow } from './window.ts'

export const countsParameters = [...selectionParameters, 'group_by'] as const

/** What counts can be grouped by: hour and day, which are computed, url as another name of page_url, and fields. */
export const groupings: readonly Group[] = [
  { name: 'hour', sql: 'toStartOfHour(timestamp)' },
  { name: 'day', sql: 'toDate(timestamp)' },
  { name: 'url', sql: 'page_url' },
  ...groupableFields.map(({ name }) => ({ name, sql: name })),
]

/** Reads a request for counts of events (version 3). Throws 400 that names the parameter. */
export function readCountsRequest(request: ReadRequest, nowMs: number): Asked<CountsPlan> {
  const given = readParameters(request.query, countsParameters)
  return {
    asked: readScope(given, request),
    plan: {
      ...readFreeSelection(given),
      window: readWindow(given, nowMs),
      groups: readGroups(given.group_by),
      limit: readLimit(given.limit, limitDefault.counts),
    },
  }
}

/** Reads what counts are about. Throws 400 that names the parameter. */
export function readFreeSelection(given: Parameters<typeof readSelection>[0]) {
  const selection = readSelection(given, everyTier)
  requireFree(selection)
  return selection
}

/**
 * Refuses what an unbilled answer must not be asked, for it would tell what is sold, if only whether somebody was
 * there: filters are on fields of events, `resolved` among them, and of identity fields only those are counted that
 * give a bare number away. Throws 400 that names the parameter and the field.
 */
export function requireFree({ filters, distinct }: Pick<EventsPlan, 'filters' | 'distinct'>): void {
  const filtered = filters.flatMap(({ field }) => field ?? []).find(isIdentityField)
  if (filtered) {
    throw invalidParameter(
      'filter',
      `"${filtered.name}" tells who a visitor is, which is not free: filter by fields of events, resolved among them`,
    )
  }
  const counted = distinct.find((field) => isIdentityField(field) && field.counts !== 'number')
  if (counted) {
    throw invalidParameter(
      'distinct',
      `"${counted.name}" tells who a visitor is, which is not free: of identity fields hem and company_domain are counted`,
    )
  }
}

/** Reads what counts are grouped by. Throws 400 for what would return an event, an address or a person. */
export function readGroups(list: string | undefined): readonly Group[] {
  if (list === undefined) return []
  return readNames('group_by', list).map((name) => {
    const grouping = groupings.find((candidate) => candidate.name === name)
    if (grouping) return grouping
    throw invalidParameter(
      'group_by',
      `"${name}" is none of ${groupings.map((candidate) => candidate.name).join(', ')}`,
    )
  })
}
