import type { ComponentChildren } from 'preact'
import { useProjectPath } from '../projectPath.ts'
import { currentSearch, Link } from '../router.tsx'
import { viewSearch } from './view.ts'

const titles = { events: 'The events behind this', people: 'Who they are' }

/** A number that leads to what it is made of: the page of the same view, narrowed by what the number counts. */
export function Behind({
  projectId,
  page,
  filter,
  children,
}: {
  projectId: string
  page: keyof typeof titles
  /** field:op:value */
  filter: string
  children: ComponentChildren
}) {
  const pathTo = useProjectPath(projectId)
  return (
    <Link href={pathTo(page) + viewSearch(currentSearch.value, [filter])} title={titles[page]}>
      {children}
    </Link>
  )
}
