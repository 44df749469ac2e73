import { useProjectPath } from '../../projectPath.ts'
import { Link } from '../../router.tsx'

/** A panel that links to companies, whose names are billed and so not in free responses. */
export function CompaniesPanel({ projectId }: { projectId: string }) {
  const pathTo = useProjectPath(projectId)
  return (
    <section class="card panel" aria-label="Companies">
      <header class="panel-header">
        <h2>Companies</h2>
      </header>
      <p class="meta">
        Companies of visitors come from their profiles and are charged per company:{' '}
        <Link href={pathTo('people?tab=companies')}>see the companies</Link>. The number of
        identified visitors is free: <Link href={pathTo('people?tab=rates')}>match rate</Link>.
      </p>
    </section>
  )
}
