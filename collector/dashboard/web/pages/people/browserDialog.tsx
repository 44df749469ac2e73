import type { ComponentChildren } from 'preact'
import { Dialog } from '../../components/dialog.tsx'
import { setUrl } from '../../urlState.ts'
import type { ViewQuery } from '../../view/view.ts'
import { TimeLine } from './timeLine.tsx'

/** What one browser did in a view, beside the list that it was opened from, and the way to whose it is. */
export function BrowserDialog({
  title,
  query,
  cookieId,
  identity,
  close,
  children,
}: {
  title: string
  query: ViewQuery
  cookieId: string
  /** What the way to the browser's identity is called. */
  identity: string
  close(): void
  children: ComponentChildren
}) {
  return (
    <Dialog title={title} close={close} class="side-dialog">
      {children}
      <TimeLine projectId={query.project_id} cookieId={cookieId} window={query} />
      <div class="actions">
        <button type="button" onClick={() => setUrl({ tab: 'identity', cookie: cookieId })}>
          {identity}
        </button>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
