import { signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { currentSearch } from '../router.tsx'
import { isShared } from '../shared.ts'
import { changeParams } from '../urlState.ts'
import { useQueryOf } from '../useQuery.ts'
import { zone } from '../zone.ts'
import { splitFilter } from './filterText.ts'
import {
  type Comparison,
  comparedWindow,
  comparisons,
  type Days,
  daysOf,
  type Period,
  periods,
  type Window,
  windowOf,
} from './periods.ts'

/** The days, filters and comparison of a page, stored in its address, so that a link shows the same page. */
export interface View {
  period: Period
  /** The days of the period, both inclusive (local to the project). */
  days: Days
  comparison: Comparison
  /** The days of a custom comparison, both inclusive (local to the project). */
  comparedDays: Days | undefined
  /** Filters, each as field:op:value in the API's syntax; all of them must match. */
  filters: readonly string[]
  pixelId: string | undefined
  /** Whether events of bots are included. */
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

/** Reads a view from an address's query and ignores invalid parts. */
function readView(search: string): View {
  const params = new URLSearchParams(search)
  const [period, days] = readDays(params, 'period', periods, '', periodDefault)
  const [comparison, comparedDays] = readDays(
    params,
    'compare',
    comparisons,
    'compare_',
    'previous',
  )
  return {
    period,
    days: period === 'custom' ? days! : daysOf(period, Date.now(), zone.value),
    comparison,
    comparedDays,
    filters: params.getAll('filter'),
    pixelId: params.get('pixel_id') ?? undefined,
    hasBots: params.get('bots') === 'included',
  }
}

/** Returns one of the choices, and the days of the custom one, which is invalid without them. */
function readDays<Choice extends string>(
  params: URLSearchParams,
  name: string,
  choices: Record<Choice | 'custom', string>,
  prefix: string,
  initial: Choice,
): [choice: Choice | 'custom', days: Days | undefined] {
  const asked = params.get(name) ?? ''
  const [from, to] = [params.get(`${prefix}from`), params.get(`${prefix}to`)]
  const days = isDay(from) && isDay(to) && from <= to ? { from, to } : undefined
  if (!Object.hasOwn(choices, asked)) return [initial, undefined]
  if (asked !== 'custom') return [asked as Choice, undefined]
  return days ? ['custom', days] : [initial, undefined]
}

/** Writes a view to an address's parameters, without the defaults; other parameters stay. */
function writeView(params: URLSearchParams, view: View): void {
  const { period, days, comparison, comparedDays, filters, pixelId, hasBots } = view
  const compared = comparison === 'custom' && comparedDays
  const own: [name: string, values: readonly string[]][] = [
    ['period', period === periodDefault ? [] : [period]],
    ['from', period === 'custom' ? [days.from] : []],
    ['to', period === 'custom' ? [days.to] : []],
    ['compare', comparison === 'previous' ? [] : [comparison]],
    ['compare_from', compared ? [compared.from] : []],
    ['compare_to', compared ? [compared.to] : []],
    ['pixel_id', pixelId ? [pixelId] : []],
    ['filter', filters],
    ['bots', hasBots ? ['included'] : []],
  ]
  for (const [name, values] of own) {
    params.delete(name)
    for (const value of values) params.append(name, value)
  }
}

/** Returns the query with which another page shows the same view, restricted by these filters. */
export function viewSearch(search: string, filters: readonly string[] = []): string {
  const params = new URLSearchParams()
  const view = readView(search)
  writeView(params, { ...view, filters: [...new Set([...view.filters, ...filters])] })
  return params.size > 0 ? `?${params}` : ''
}

/** Shows the same page with a changed view; Back returns to the current one. */
export function changeView(part: Partial<View>): void {
  changeParams((params) => writeView(params, { ...readView(currentSearch.value), ...part }))
}

/** Adds a filter to the view. */
export function addFilter(filter: string): void {
  const { filters } = readView(currentSearch.value)
  if (!filters.includes(filter)) changeView({ filters: [...filters, filter] })
}

/** How often the figures of the page were refreshed. A refresh moves the end of a current period to now. */
export const refreshes = signal(0)

/** Sends a request for figures of the view, again after each refresh (useQuery.ts). A hook. */
export const useRefreshed = <T>(key: unknown, ask: () => Promise<T>) =>
  useQueryOf(JSON.stringify(key), ask, refreshes.value)

/** Returns the view of the address, its API parameters, and the compared window. A hook. */
export function useView(projectId: string): {
  view: View
  query: ViewQuery
  compared: Window | null
} {
  const search = currentSearch.value
  return useMemo(() => {
    const view = readView(search)
    const { filters, pixelId, hasBots } = view
    const areBotsAsked = !isShared() && (hasBots || filters.some(isAboutBots))
    const now = Date.now()
    const window = windowOf(view.days, now, zone.value)
    return {
      view,
      compared: comparedWindow(window, view.comparison, view.comparedDays, now, zone.value),
      query: {
        project_id: projectId,
        ...(pixelId && { pixel_id: pixelId }),
        ...window,
        ...(filters.length > 0 && { filter: filters.join(',') }),
        ...(areBotsAsked && { include_bots: true }),
      },
    }
  }, [search, projectId, zone.value, refreshes.value])
}

/** Whether a filter names a field that only sessions have. On events, `source` has the two values here. */
export const isAboutSessions = (filter: string): boolean =>
  splitFilter(filter).some(
    (one) =>
      /^(?:source|channel|entry_page|exit_page):/.test(one) &&
      !/^source:\w+:(?:pixel|svcdsp)(?:\|(?:pixel|svcdsp))*$/.test(one),
  )

/** Whether a filter selects bots, so that excluding them would leave no events. */
export const isAboutBots = (filter: string): boolean => /^(is_bot|bot_reason):/.test(filter)

/** Returns the query for records and counts of the events that figures count. */
export function recordsQuery({ include_bots, filter, ...query }: ViewQuery): RecordsQuery {
  const filters = [filter, include_bots ? undefined : 'is_bot:eq:false'].filter(Boolean).join(',')
  return { ...query, ...(filters && { filter: filters }) }
}
