import type { ComponentChildren } from 'preact'
import { Link } from '../../router.tsx'
import { useSession } from '../../session.ts'

/** Links to the charged requests of a number: those of a day, a meter or a caller. */
export function ChargedRequests({
  of,
  children,
}: {
  of: { day?: string; meter?: string; caller?: string }
  children: ComponentChildren
}) {
  const { organization } = useSession()
  const filters = new URLSearchParams({ charged: 'true', ...of })
  return (
    <Link
      href={`/${organization.organization_id}/developers/requests?${filters}`}
      title="Charged requests"
    >
      {children}
    </Link>
  )
}
