import { Link } from '../router.tsx'
import { Page } from './page.tsx'

/** For addresses that lead nowhere, and for what belongs to somebody else. */
export function NotFound() {
  return (
    <Page title="Page not found">
      <p>This page does not exist or was deleted, or you do not have access.</p>
      <p>
        <Link href="/">Go to your projects</Link>
      </p>
    </Page>
  )
}
