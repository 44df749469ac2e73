import { useEffect, useState } from 'preact/hooks'
import { type Activity, api, type Pixel } from '../../api.ts'
import { Section } from '../../components/page.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { counted, wholeNumber } from '../../format.ts'
import { lazyPage } from '../../lazyPage.tsx'

const Notices = lazyPage(() => import('./notices.tsx').then(({ Notices }) => Notices))
const NextStep = lazyPage(() => import('./nextStep.tsx').then(({ NextStep }) => NextStep))

const pollMs = 1_500

/**
 * "Is it working?": loads the pixel's activity while the page is visible, and lights up at the first event.
 */
export function PixelActivity({ pixel }: { pixel: Pixel }) {
  const { activity, isAway } = useActivity(pixel.pixel_id)
  const state = !pixel.active ? 'off' : activity ? stateOf(activity) : 'waiting'
  return (
    <Section title="Is it working?">
      <div class={`activity ${state}`}>
        <span class="light" aria-hidden="true" />
        <div>
          <p class="activity-state" role="status">
            {activity || !pixel.active ? states[state] : 'Looking…'}
            {state === 'refused' && `: ${activity?.last_refusal?.error}`}
          </p>
          {state === 'off' && <p class="meta">Turn it on in its settings to collect events.</p>}
          {state === 'refused' && activity?.last_refusal && (
            <p class="meta">
              {activity.last_refusal.message} The last beacon was refused{' '}
              <RelativeTime at={activity.last_refusal.at} />.
            </p>
          )}
          {state === 'waiting' && (
            <p class="meta">Open a page with the snippet. This status updates by itself.</p>
          )}
          {state === 'waiting' && activity?.last_refusal && isUnreadable(activity.last_refusal) && (
            <p class="meta">
              A request could not be read <RelativeTime at={activity.last_refusal.at} />:{' '}
              {activity.last_refusal.message}
            </p>
          )}
          {activity?.first_event_at && activity.last_event_at && (
            <p class="meta">
              {counted(activity.events_last_24h, 'event')} in the last 24 hours
              {activity.bots_last_24h > 0 && `, ${wholeNumber(activity.bots_last_24h)} from bots`},
              the last one <RelativeTime at={activity.last_event_at} />. The first came{' '}
              <RelativeTime at={activity.first_event_at} />.
              {activity.bots_last_24h > 0 && ' Figures do not count bots.'}
            </p>
          )}
          {state === 'lit' && <NextStep pixel={pixel} />}
          {isAway && <p class="meta">The service does not answer. Trying again.</p>}
        </div>
      </div>
      {activity && <Consent pixel={pixel} activity={activity} />}
      {activity && hasNotice(activity, state) && (
        <Notices pixel={pixel} activity={activity} isWorking={state === 'lit'} />
      )}
    </Section>
  )
}

/** Whether a consent banner works, as far as visitors show it. */
function Consent({
  pixel,
  activity: { visitors_last_24h: all, without_consent_last_24h: without },
}: {
  pixel: Pixel
  activity: Activity
}) {
  if (all === 0 || (without === 0 && pixel.settings.consent !== 'cookieless')) return null
  return (
    <p class={without === all ? 'notice' : 'meta'}>
      {without === all
        ? 'No visitor of the last 24 hours has consented. Does your banner call footfall("consent", "granted")?'
        : `The banner works. In the last 24 hours: ${counted(all - without, 'visitor')} with consent and ${wholeNumber(without)} without or before it. A visitor who consents here is in both numbers, and counts twice in figures.`}
    </p>
  )
}

const states = {
  off: 'This pixel is switched off',
  waiting: 'Waiting for the first event',
  lit: 'Working: events arrive',
  refused: 'Events are refused',
  ignored: 'Events arrive, but the project ignores them',
}

const hasNotice = (
  { rejected_last_24h, last_refusal, last_ignored }: Activity,
  state: keyof typeof states,
): boolean =>
  rejected_last_24h > 0 || last_ignored !== null || (state === 'lit' && last_refusal !== null)

const isUnreadable = ({ error }: NonNullable<Activity['last_refusal']>) => error === 'malformed'

/**
 * Refused: the latest beacon was refused, and no event came for a day. Otherwise one beacon of a foreign site turns a
 * pixel red that works. Unreadable requests do not count, because anybody can send one.
 * Ignored: no event was stored, and the project has ignored some.
 */
const stateOf = ({
  first_event_at,
  last_event_at,
  events_last_24h,
  last_refusal,
  last_ignored,
}: Activity): keyof typeof states => {
  if (events_last_24h > 0) return 'lit'
  const isReadable = last_refusal && !isUnreadable(last_refusal)
  if (isReadable && last_refusal.at > (last_event_at ?? '')) return 'refused'
  if (first_event_at) return 'lit'
  return last_ignored ? 'ignored' : 'waiting'
}

/** Polls the pixel's activity while the page is visible. A hook. */
function useActivity(pixelId: string): { activity: Activity | null; isAway: boolean } {
  const [state, setState] = useState<{ activity: Activity | null; isAway: boolean }>({
    activity: null,
    isAway: false,
  })
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    let isOver = false
    const ask = async () => {
      if (!document.hidden) {
        const activity = await api.getPixelActivity({ pixel_id: pixelId }).catch(() => null)
        if (isOver) return
        setState((before) => ({ activity: activity ?? before.activity, isAway: activity === null }))
      }
      timer = setTimeout(ask, pollMs)
    }
    void ask()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [pixelId])
  return state
}
