import type { ComponentChildren } from 'preact'
import { Link } from '../../router.tsx'
import { useSession } from '../../session.ts'

/** Leads to the charged requests that a number is made of: those of a day, a meter, a caller. */
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
