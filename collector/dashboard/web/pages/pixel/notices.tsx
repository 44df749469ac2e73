import type { Activity, Pixel } from '../../api.ts'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { counted } from '../../format.ts'
import { useProjectPath } from '../../projectPath.ts'
import { Link } from '../../router.tsx'
import { faultText } from '../../view/faultText.ts'

const dayMs = 86_400_000

/** Notices of events that a pixel did not store: rejected ones, beacons of foreign sites, and ignored traffic. */
export const Notices = ({
  pixel,
  activity,
  isWorking,
}: {
  pixel: Pixel
  activity: Activity
  isWorking: boolean
}) => (
  <>
    {activity.rejected_last_24h > 0 && <Rejections activity={activity} />}
    {isWorking && activity.last_refusal && <ForeignBeacon {...activity.last_refusal} />}
    {activity.last_ignored && <LastIgnored pixel={pixel} {...activity.last_ignored} />}
  </>
)

function Rejections({ activity: { rejected_last_24h, last_rejection } }: { activity: Activity }) {
  return (
    <div class="notice">
      <p>
        <strong>{counted(rejected_last_24h, 'event')} rejected</strong> in the last 24 hours.
        {last_rejection && (
          <>
            {' '}
            The last one <RelativeTime at={last_rejection.at} />: {faultText(last_rejection)}.
          </>
        )}
      </p>
    </div>
  )
}

/** A working pixel refused a beacon: somebody copied its snippet, or a site is missing in its settings. */
function ForeignBeacon({ at, error, message }: NonNullable<Activity['last_refusal']>) {
  if (error !== 'origin not allowed' || Date.now() - Date.parse(at) > dayMs) return null
  return (
    <div class="notice">
      <p>
        <strong>A beacon of another site was refused</strong> <RelativeTime at={at} />. {message}
      </p>
    </div>
  )
}

function LastIgnored({
  pixel,
  at,
  setting,
  message,
}: NonNullable<Activity['last_ignored']> & { pixel: Pixel }) {
  const pathTo = useProjectPath(pixel.project_id)
  return (
    <div class="notice">
      <p>
        <strong>Events were ignored</strong> <RelativeTime at={at} /> and are not stored. {message}{' '}
        The setting is <code>{setting}</code>.{' '}
        <Link href={pathTo('settings')}>Change the ignored traffic</Link>
      </p>
    </div>
  )
}
