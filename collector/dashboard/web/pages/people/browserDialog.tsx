import type { ComponentChildren } from 'preact'
import { Dialog } from '../../components/dialog.tsx'
import { setUrl } from '../../urlState.ts'

/** A person or a company of a list, with the ways to their sessions and to their identity. */
export function BrowserDialog({
  title,
  cookieId,
  close,
  children,
}: {
  title: string
  cookieId: string
  close(): void
  children: ComponentChildren
}) {
  return (
    <Dialog title={title} close={close} class="side-dialog">
      {children}
      <div class="actions">
        <button
          type="button"
          class="primary"
          onClick={() => setUrl({ tab: '', visitor: cookieId })}
        >
          Show sessions
        </button>
        <button type="button" onClick={() => setUrl({ tab: 'identity', cookie: cookieId })}>
          Evidence for this browser
        </button>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
