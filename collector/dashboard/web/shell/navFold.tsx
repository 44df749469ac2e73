import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Links of the navigation that are needed less often, folded away unless the reader is on one of their pages. */
export function NavFold({
  title,
  hasPage = true,
  children,
}: {
  title: string
  /** False: the page that is shown is never one of these, only below one of them. */
  hasPage?: boolean
  children: ComponentChildren
}) {
  const element = useRef<HTMLDetailsElement>(null)
  useLayoutEffect(() => {
    const details = element.current!
    if (hasPage && details.querySelector('[aria-current]')) details.open = true
  }, [])
  return (
    <details class="nav-fold" ref={element}>
      <summary>{title}</summary>
      <ul>{children}</ul>
    </details>
  )
}
