import type { ComponentChildren } from 'preact'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'

/** Asks for confirmation before a deletion. */
export function ConfirmDialog({
  title,
  action,
  confirm,
  close,
  children,
}: {
  title: string
  action: string
  confirm(): Promise<void>
  close(): void
  children: ComponentChildren
}) {
  return (
    <Dialog title={title} close={close}>
      <Form submit={confirm} action={action} tone="danger" cancel={close}>
        {children}
      </Form>
    </Dialog>
  )
}
