import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answer } from '../../../../api/client/index.ts'
import { api } from '../../api.ts'
import { usePopover } from '../../components/popover.ts'
import { counted, eventClock, wholeNumber } from '../../format.ts'
import { isShared } from '../../shared.ts'
import { useRepeat } from '../../useQuery.ts'

/** An event is available after a second, so it is shown within two. */
const pollMs = 1_000
/** All viewers of a share link use one rate limit. */
const sharedPollMs = 10_000

interface LiveAsked {
  projectId: string
  include_bots: true | undefined
}

/** Current visitors, loaded repeatedly while the page is visible; the last half hour, when it is opened. */
export function Live({ projectId, include_bots }: LiveAsked) {
  const live = useLive({ projectId, include_bots })
  const place = useRef<HTMLDetailsElement>(null)
  usePopover(place)
  // Reserves its space before it is loaded.
  if (!live) return <div class="live" />
  const most = Math.max(1, ...live.minutes.map(({ visitors }) => visitors))
  return (
    <details class="live" ref={place}>
      <summary>
        <span class={live.visitors_now > 0 ? 'light on' : 'light'} aria-hidden="true" />
        <span class="number">{wholeNumber(live.visitors_now)}</span> on the site now
      </summary>
      <div class="card">
        <h2>The last 30 minutes</h2>
        <p class="meta number">
          {counted(live.visitors, 'visitor')}, {counted(live.page_views, 'page view')},{' '}
          {counted(live.events, 'event')}
        </p>
        <div class="minutes" aria-hidden="true">
          {live.minutes.map(({ start_ms, visitors }) => (
            <span
              key={start_ms}
              ref={(bar) => bar?.style.setProperty('height', `${(100 * visitors) / most}%`)}
            />
          ))}
        </div>
        <details>
          <summary>Minute by minute</summary>
          <Minutes minutes={live.minutes} />
        </details>
        <ul class="live-pages">
          {live.pages.map(({ page_path, visitors }) => (
            <li key={page_path}>
              <span>{page_path}</span> <span class="number">{wholeNumber(visitors)}</span>
            </li>
          ))}
        </ul>
      </div>
    </details>
  )
}

type LiveFigures = Answer<'getAnalyticsLive'>

/** The minutes as a table, the current one first. */
const Minutes = ({ minutes }: Pick<LiveFigures, 'minutes'>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
  <section class="table-scroll" tabIndex={0} aria-label="The last 30 minutes, minute by minute">
    <table>
      <thead>
        <tr>
          {['Minute', 'Visitors', 'Page views', 'Events'].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {minutes.toReversed().map(({ start_ms, visitors, page_views, events }) => (
          <tr key={start_ms}>
            <th scope="row">{eventClock(start_ms)}</th>
            <td>{wholeNumber(visitors)}</td>
            <td>{wholeNumber(page_views)}</td>
            <td>{wholeNumber(events)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

function useLive({ projectId, include_bots }: LiveAsked): LiveFigures | undefined {
  const [live, setLive] = useState<LiveFigures>()
  const look = async () =>
    setLive(await api.getAnalyticsLive({ project_id: projectId, include_bots }))
  useEffect(() => void look().catch(() => {}), [projectId, include_bots])
  useRepeat(look, isShared() ? sharedPollMs : pollMs)
  return live
}
