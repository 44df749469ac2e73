import { Link } from '../router.tsx'
import { Page } from './page.tsx'

/** For unknown addresses and inaccessible objects. */
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
