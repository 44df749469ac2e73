import { useMemo } from 'preact/hooks'
import { currentSearch } from '../router.tsx'
import { isShared } from '../shared.ts'
import { changeParams } from '../urlState.ts'
import { type Days, daysOf, type Period, periods, windowOf } from './periods.ts'

/** The scope of pages of figures. The address contains it, so that a link shows the same to others. */
export interface View {
  period: Period
  /** The days of the period, both inclusive (UTC). */
  days: Days
  isCompared: boolean
  /** Each field:op:value, as the API takes them; all of them must hold. */
  filters: readonly string[]
  pixelId: string | undefined
  /** Whether events of bots count, too. */
  hasBots: boolean
}

/** Parameters of a view for the analytics API. */
export interface ViewQuery {
  project_id: string
  pixel_id?: string
  start_ms: number
  end_ms: number
  filter?: string
  include_bots?: true
}

/** Parameters of a view for records or counts: a filter instead of include_bots. */
export type RecordsQuery = Omit<ViewQuery, 'include_bots'> & { include_bots?: never }

const periodDefault: Period = 'days30'
const isDay = (text: string | null): text is string => /^\d{4}-\d\d-\d\d$/.test(text ?? '')

/** Reads a view from an address's query; ignores invalid values. */
function readView(search: string): View {
  const params = new URLSearchParams(search)
  const asked = params.get('period') ?? ''
  const [from, to] = [params.get('from'), params.get('to')]
  const custom = isDay(from) && isDay(to) && from <= to ? { from, to } : undefined
  const period =
    Object.hasOwn(periods, asked) && (asked !== 'custom' || custom)
      ? (asked as Period)
      : periodDefault
  return {
    period,
    days: period === 'custom' ? custom! : daysOf(period),
    isCompared: params.get('compare') !== 'off',
    filters: params.getAll('filter'),
    pixelId: params.get('pixel_id') ?? undefined,
    hasBots: params.get('bots') === 'included',
  }
}

/** Writes a view into an address's parameters, without default values; other parameters stay. */
function writeView(params: URLSearchParams, view: View): void {
  const { period, days, isCompared, filters, pixelId, hasBots } = view
  const own: [name: string, values: readonly string[]][] = [
    ['period', period === periodDefault ? [] : [period]],
    ['from', period === 'custom' ? [days.from] : []],
    ['to', period === 'custom' ? [days.to] : []],
    ['compare', isCompared ? [] : ['off']],
    ['pixel_id', pixelId ? [pixelId] : []],
    ['filter', filters],
    ['bots', hasBots ? ['included'] : []],
  ]
  for (const [name, values] of own) {
    params.delete(name)
    for (const value of values) params.append(name, value)
  }
}

/** The query by which another page shows the same view, narrowed by these filters. */
export function viewSearch(search: string, filters: readonly string[] = []): string {
  const params = new URLSearchParams()
  const view = readView(search)
  writeView(params, { ...view, filters: [...new Set([...view.filters, ...filters])] })
  return params.size > 0 ? `?${params}` : ''
}

/** Shows the same page with another view, and all else of its address; the way back leads to this one. */
export function changeView(part: Partial<View>): void {
  changeParams((params) => writeView(params, { ...readView(currentSearch.value), ...part }))
}

/** Narrows the view to the value of a row; null for a row without a value. */
export function addFilter(filter: string): void {
  const { filters } = readView(currentSearch.value)
  if (!filters.includes(filter)) changeView({ filters: [...filters, filter] })
}

/** The view of the address, and what to ask the API for it. A hook. */
export function useView(projectId: string): { view: View; query: ViewQuery } {
  const search = currentSearch.value
  return useMemo(() => {
    const view = readView(search)
    const { filters, pixelId, hasBots } = view
    const areBotsAsked = !isShared() && (hasBots || filters.some(isAboutBots))
    return {
      view,
      query: {
        project_id: projectId,
        ...(pixelId && { pixel_id: pixelId }),
        ...windowOf(view.days),
        ...(filters.length > 0 && { filter: filters.join(',') }),
        ...(areBotsAsked && { include_bots: true }),
      },
    }
  }, [search, projectId])
}

/** Whether a filter asks for bots by itself, so that excluding them would leave nothing of it. */
export const isAboutBots = (filter: string): boolean => /^(is_bot|bot_reason):/.test(filter)

/** The query for the records and counts of the same events that figures count. */
export function recordsQuery({ include_bots, filter, ...query }: ViewQuery): RecordsQuery {
  const filters = [filter, include_bots ? undefined : 'is_bot:eq:false'].filter(Boolean).join(',')
  return { ...query, ...(filters && { filter: filters }) }
}
