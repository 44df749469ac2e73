import { api } from '../../api.ts'
import { setUrl } from '../../urlState.ts'
import { useQueryOf } from '../../useQuery.ts'
import type { ViewQuery } from '../../view/view.ts'

/** Most pages that the choice lists: those with the most visitors. */
const pagesMax = 50

/** Where journeys end: at a page, or at a goal by its name. */
type End = { end: string } | { goal: string }

/** Returns the end of journeys in the address; null for any end. */
export function endOf(params: URLSearchParams): End | null {
  const [goal, end] = [params.get('goal'), params.get('end')]
  if (goal) return { goal }
  return end ? { end } : null
}

/** Chooses the page or goal at which journeys end. */
export function JourneyEnd({ query, end }: { query: ViewQuery; end: End | null }) {
  const offers = useQueryOf(JSON.stringify(query), async () => {
    const [{ goals }, { breakdowns }] = await Promise.all([
      api.getAnalyticsGoals({ project_id: query.project_id }),
      api.getAnalyticsBreakdown({ ...query, dimensions: 'page_path', limit: pagesMax }),
    ])
    const pages = breakdowns.page_path!.values.flatMap(({ value }) => value ?? [])
    return { goal: goals.map(({ name }) => name), end: pages }
  })
  const options = (kind: 'goal' | 'end') => {
    const chosen = end && kind in end ? Object.values(end) : []
    return [...new Set([...(offers.value?.[kind] ?? []), ...chosen])].map((name) => (
      <option key={name} value={`${kind} ${name}`}>
        End at {name}
      </option>
    ))
  }
  return (
    <select
      aria-label="End"
      value={end ? Object.entries(end)[0]!.join(' ') : ''}
      onChange={({ currentTarget: { value } }) => {
        const [, kind = '', name = ''] = /^(goal|end) (.*)$/.exec(value) ?? []
        setUrl({ goal: '', end: '', ...(kind && { [kind]: name }) })
      }}
    >
      <option value="">End anywhere</option>
      <optgroup label="Goals">{options('goal')}</optgroup>
      <optgroup label="Pages">{options('end')}</optgroup>
    </select>
  )
}
