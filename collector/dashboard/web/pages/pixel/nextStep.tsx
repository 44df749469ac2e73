import { api, type Pixel } from '../../api.ts'
import { counted } from '../../format.ts'
import { useProjectPath } from '../../projectPath.ts'
import { Link } from '../../router.tsx'
import { useQuery } from '../../useQuery.ts'
import { eventName } from '../../view/conditionRow.tsx'
import { daysOf, windowOf } from '../../view/periods.ts'
import { goalFilter } from '../goals/goalFilter.ts'

/** After the first events of a pixel: the overview, and a goal for the most frequent custom event that has none. */
export function NextStep({ pixel: { project_id, pixel_id } }: { pixel: Pixel }) {
  const pathTo = useProjectPath(project_id)
  const { value: event } = useQuery(async () => {
    const window = windowOf(daysOf('days7'))
    const [{ breakdowns }, { goals }] = await Promise.all([
      api.getAnalyticsBreakdown({
        project_id,
        pixel_id,
        ...window,
        filter: 'event_type:eq:custom',
        dimensions: eventName,
        limit: 100,
      }),
      api.getAnalyticsGoals({ project_id }),
    ])
    const hasGoal = (name: string) =>
      goals.some(({ filter }) => filter === goalFilter('event', name))
    return breakdowns[eventName]?.values.find(({ value }) => value && !hasGoal(value)) ?? null
  })
  return (
    <p>
      <Link href={pathTo('overview')}>See the overview</Link>
      {event?.value && (
        <>
          {' · '}
          {counted(event.events ?? 0, `${event.value} event`)}:{' '}
          <Link href={`${pathTo('goals')}?event=${encodeURIComponent(event.value)}`}>
            make it a goal
          </Link>
        </>
      )}
    </p>
  )
}
