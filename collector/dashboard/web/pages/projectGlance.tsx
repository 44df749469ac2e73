import type { ProjectActivity } from '../api.ts'
import { RelativeTime } from '../components/relativeTime.tsx'
import { Sparkline } from '../components/sparkline.tsx'
import { wholeNumber } from '../format.ts'

const silentAfterMs = 86_400_000

const lights = {
  lit: 'Events arrive',
  refused: 'Events are refused',
  silent: 'No events for a day',
  waiting: 'No events yet',
}

/** Refused: no event came for a day, and the latest beacon was refused. */
function lightOf({ last_event_at, last_refusal_at }: ProjectActivity): keyof typeof lights {
  if (last_event_at && Date.now() - Date.parse(last_event_at) <= silentAfterMs) return 'lit'
  if (last_refusal_at && last_refusal_at > (last_event_at ?? '')) return 'refused'
  return last_event_at ? 'silent' : 'waiting'
}

/**
 * The state of a project: its light, visitors today, and earlier days. It reserves its space while it loads.
 */
export function ProjectGlance({ activity }: { activity: ProjectActivity | undefined }) {
  if (!activity) return <div class="glance" aria-hidden="true" />
  const light = lightOf(activity)
  const today = activity.visitors.at(-1) ?? 0
  return (
    <div class={`glance ${light}`}>
      <p class="meta">
        <span class="light" aria-hidden="true" />
        {lights[light]}
        {activity.last_event_at && (
          <>
            , the last one <RelativeTime at={activity.last_event_at} />
          </>
        )}
      </p>
      <p class="today">
        <strong>{wholeNumber(today)}</strong> {today === 1 ? 'visitor' : 'visitors'} today
      </p>
      <Sparkline
        values={activity.visitors}
        label={`Visitors of the last ${activity.visitors.length} days: ${activity.visitors.join(', ')}`}
      />
    </div>
  )
}
