import type { ComponentChildren } from 'preact'
import { useProjectPath } from '../projectPath.ts'
import { currentSearch, Link } from '../router.tsx'
import { isShared } from '../shared.ts'
import { type FunnelStep, writeFunnelStep } from './funnelView.ts'
import { viewSearch } from './view.ts'

const pages = {
  events: { path: 'events', title: 'Show these events' },
  visitors: { path: 'people', title: 'Show these visitors' },
}

/** The subject of a number within its view. */
interface Counted {
  projectId: string
  page: keyof typeof pages
  /** Filters, each as field:op:value. */
  filters?: readonly string[]
  /** The funnel step of the counted visitors. */
  funnel?: FunnelStep
}

/**
 * A number that links to its events or visitors: the page of the same view, filtered by the subject of the
 * number. Viewers of a share link see only the number.
 */
export const Drilldown = ({ children, ...counted }: Counted & { children: ComponentChildren }) =>
  isShared() ? children : <BehindLink {...counted}>{children}</BehindLink>

function BehindLink({
  projectId,
  page,
  filters,
  funnel,
  children,
}: Counted & { children: ComponentChildren }) {
  const pathTo = useProjectPath(projectId)
  const { path, title } = pages[page]
  const params = new URLSearchParams(viewSearch(currentSearch.value, filters))
  if (funnel) writeFunnelStep(params, funnel)
  const search = params.size > 0 ? `?${params}` : ''
  return (
    <Link href={pathTo(path) + search} title={title}>
      {children}
    </Link>
  )
}
