import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

/**
 * A modal dialog, open as long as it is drawn. `close` is asked when the reader leaves it by Escape; the browser
 * gives the focus back to where it was.
 */
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
      // Closed before it is removed: else the focus would not go back.
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
