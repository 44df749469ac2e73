import type { ComponentChildren } from 'preact'
import { Dialog } from '../../components/dialog.tsx'
import { setUrl } from '../../urlState.ts'
import type { ViewQuery } from '../../view/view.ts'
import { TimeLine } from './timeLine.tsx'

/** Events of one browser in a view, next to the list that opened it, with a link to its identity. */
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
  /** Label of the link to the browser's identity. */
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
