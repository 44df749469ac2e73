import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

/** A modal dialog, open while it is rendered. Escape calls `close`; the browser then restores the focus. */
export function Dialog({
  title,
  close,
  class: className = '',
  children,
}: {
  title: string
  close(): void
  class?: string
  children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOurs = useRef(false)
  const id = useId()
  useLayoutEffect(() => {
    const element = dialog.current!
    element.showModal()
    return () => {
      // Closed before it is removed; otherwise the browser would not restore the focus.
      isOurs.current = true
      element.close()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={className}
      aria-labelledby={id}
      onClose={() => isOurs.current || close()}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}
