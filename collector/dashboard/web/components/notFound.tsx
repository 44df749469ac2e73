import { Link } from '../router.tsx'
import { Page } from './page.tsx'

/** For addresses that lead nowhere, and for what belongs to somebody else. */
export function NotFound() {
  return (
    <Page title="Nothing here">
      <p>There is no such page, or it is not yours to see. It may have been deleted.</p>
      <p>
        <Link href="/">Go to your projects</Link>
      </p>
    </Page>
  )
}
