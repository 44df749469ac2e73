import { fieldsAt } from '../../../schemas/fields.ts'
import type { RequestedScope } from '../../access/scope.ts'
import { invalidParameter } from '../../http/errors.ts'
import {
  type Asked,
  type EventsPlan,
  everyTier,
  type ReadRequest,
  readFields,
  readLimit,
  readParameters,
  readScope,
  readSelection,
  readUuid,
  scopeParameters,
  windowParameters,
} from '../../query/plan.ts'
import { readWindow, type Window, type WindowParameters } from '../../query/window.ts'

/** What the versions before the tier routes (v1.ts, v2.ts) have in common, and what each decides for itself. */
export interface LegacyVersion {
  /** The longest window of a page of events, end minus start; null for any. */
  readonly windowMsMax: number | null
  /** Whether an event at the end of the window belongs to it. */
  readonly includesEnd: boolean
}

export const legacyLimits = { default: 100, max: 1000 } as const

export const legacyScopeParameters = [...scopeParameters, 'organization_id'] as const
export const legacySelectionParameters = [
  ...legacyScopeParameters,
  ...windowParameters,
  'source',
  'filter',
] as const
export const legacyEventsParameters = [
  ...legacySelectionParameters,
  'distinct',
  'select',
  'limit',
  'offset',
] as const
export const legacyCountsParameters = [...legacySelectionParameters, 'distinct', 'group_by'] as const

/** A plan for a page of events, and what else of the request decides the answer. */
export interface LegacyEvents extends Asked<EventsPlan> {
  /** True when the caller listed the fields, which then decide the meter. */
  readonly isSelected: boolean
}

/** Reads a request for a page of events. Throws 400 that names the parameter. */
export function readLegacyEvents(request: ReadRequest, version: LegacyVersion): LegacyEvents {
  const given = readParameters(request.query, legacyEventsParameters)
  const window = readWholeWindow(given, version.includesEnd)
  const { windowMsMax } = version
  if (windowMsMax !== null && window.endMs - window.startMs > windowMsMax) {
    const parameter = given.end_ms === undefined ? 'end_time' : 'end_ms'
    throw invalidParameter(parameter, `must be at most ${windowMsMax / hourMs} hours after the start`)
  }
  return {
    asked: readOneScope(given, request),
    isSelected: given.select !== undefined,
    plan: {
      ...readSelection(given, everyTier),
      window,
      hasAllColumns: given.select === undefined,
      columns:
        given.select === undefined ? fieldsAt(everyTier) : readFields('select', given.select, everyTier),
      limit: readLimit(given.limit, legacyLimits.default, legacyLimits.max),
      offset: readOffset(given.offset),
      cursor: null,
      order: 'desc',
    },
  }
}

type GivenScope = Partial<Record<(typeof legacyScopeParameters)[number], string>>

/**
 * The scope of a request: one of pixel, project and organization, and perhaps a campaign. Of several the narrowest
 * counts, and the others are as if they had not been given (spec: Events, earlier versions).
 */
export function readNarrowestScope(given: GivenScope, request: ReadRequest): RequestedScope {
  const { projectId, pixelId, campaignId } = readScope(given, request)
  const organizationId = readUuid('organization_id', given.organization_id)
  if (pixelId) return { pixelId, campaignId }
  if (projectId) return { projectId, campaignId }
  return { organizationId, campaignId }
}

/** The same where a scope, or a campaign, must be given. Throws 400 when there is none. */
export function readOneScope(given: GivenScope, request: ReadRequest): RequestedScope {
  const asked = readNarrowestScope(given, request)
  if (Object.values(asked).every((id) => id === undefined)) {
    throw invalidParameter(
      'organization_id',
      'is missing: give one of pixel_id, project_id and organization_id',
    )
  }
  return asked
}

/** The window of a request, both ends of which must be given, in the same way. Throws 400 that names the parameter. */
export function readWholeWindow(given: WindowParameters, includesEnd: boolean): Window {
  const inTimes = given.start_time !== undefined || given.end_time !== undefined
  const inMilliseconds = given.start_ms !== undefined || given.end_ms !== undefined
  if (inTimes && inMilliseconds) {
    const parameter = given.start_time === undefined ? 'end_time' : 'start_time'
    throw invalidParameter(parameter, 'cannot be combined with start_ms and end_ms')
  }
  const missing = (inTimes ? (['start_time', 'end_time'] as const) : (['start_ms', 'end_ms'] as const)).find(
    (name) => given[name] === undefined,
  )
  if (missing)
    throw invalidParameter(missing, 'is missing: give start_ms and end_ms, or start_time and end_time')
  return readWindow(given, 0, includesEnd)
}

function readOffset(text = '0'): number {
  if (!/^\d{1,9}$/.test(text))
    throw invalidParameter('offset', `must be a whole number from 0 to ${offsetMax}`)
  return Number(text)
}

const hourMs = 3_600_000

/** Nine digits: more than a window of 25 hours holds, and a number that ClickHouse takes. */
const offsetMax = 999_999_999
