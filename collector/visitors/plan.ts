import { fieldsAt, type Tier } from '../../schemas/fields.ts'
import { invalidParameter } from '../http/errors.ts'
import { readEscapesFormulas } from '../query/csvFormulas.ts'
import { readFilters } from '../query/filter.ts'
import {
  type Asked,
  type EventsPlan,
  type ReadRequest,
  readFields,
  readLimit,
  readParameters,
  readScope,
  type Selection,
} from '../query/plan.ts'
import { readWindow, type Window } from '../query/window.ts'

/** The tiers that say who visitors are (spec: web_event has no visitors). */
export const visitorTiers = [
  'resolution_hem',
  'resolution_hem_pte',
  'resolution_full_profile',
] as const satisfies readonly Tier[]
export type VisitorTier = (typeof visitorTiers)[number]

/** What a visitor is: a person, told by hem, or a company, told by company_domain. */
export const kinds = ['buyers', 'accounts'] as const
export type Kind = (typeof kinds)[number]

export const visitorsMax = 50_000

/** Identified visitors: of each the newest event. */
export interface VisitorsPlan
  extends Selection,
    Pick<EventsPlan, 'columns' | 'hasAllColumns' | 'escapesFormulas'> {
  readonly kind: Kind
  /** Whether events of the project's DSP campaigns count, whatever pixel is named. */
  readonly includesDsp: boolean
  readonly limit: number
  /** Parts of the window that are left out because they cannot be read. */
  readonly gaps: readonly Window[]
  /** Whether rows of shards that do not answer are left out. */
  readonly skipsLostShards: boolean
}

export const visitorsParameters = [
  'project_id',
  'pixel_id',
  'kind',
  'start_ms',
  'end_ms',
  'limit',
  'include_dsp',
  'select',
  'filter',
  'csv_formulas',
] as const

/** Reads a request for visitors at `tier` (spec: Visitors route parameters). Throws 400 that names the parameter. */
export function readVisitorsRequest(request: ReadRequest, tier: VisitorTier): Asked<VisitorsPlan> {
  const given = readParameters(request.query, visitorsParameters)
  const asked = readScope(given, request)
  if (!asked.projectId && !asked.pixelId) {
    throw invalidParameter('project_id', 'is missing: give project_id or pixel_id')
  }
  for (const name of ['start_ms', 'end_ms', 'limit'] as const) {
    if (given[name] === undefined) throw invalidParameter(name, 'is missing')
  }
  const { start_ms, end_ms } = given
  // Campaigns belong to a project: with a pixel alone there are none (spec: include_dsp).
  const includesDsp = readFlag('include_dsp', given.include_dsp) && asked.projectId !== undefined
  return {
    asked,
    plan: {
      kind: readKind(given.kind, tier),
      includesDsp,
      source: includesDsp ? null : 'pixel',
      window: readWindow({ start_ms, end_ms }, 0),
      filters: given.filter === undefined ? [] : readFilters(given.filter, tier),
      hasAllColumns: given.select === undefined,
      escapesFormulas: readEscapesFormulas(given.csv_formulas),
      columns: given.select === undefined ? fieldsAt(tier) : readFields('select', given.select, tier),
      limit: readLimit(given.limit, visitorsMax, visitorsMax),
      gaps: [],
      skipsLostShards: false,
    },
  }
}

function readKind(text: string | undefined, tier: VisitorTier): Kind {
  const kind = kinds.find((candidate) => candidate === (text ?? 'buyers'))
  if (!kind) throw invalidParameter('kind', `must be ${kinds.join(' or ')}`)
  if (kind === 'accounts' && tier !== 'resolution_full_profile') {
    throw invalidParameter('kind', 'accounts are to be had at resolution_full_profile only')
  }
  return kind
}

function readFlag(parameter: string, text = 'false'): boolean {
  if (text !== 'true' && text !== 'false') throw invalidParameter(parameter, 'must be true or false')
  return text === 'true'
}
