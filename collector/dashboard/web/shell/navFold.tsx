import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { currentPath } from '../router.tsx'

/** Rarely used links of the navigation, collapsed unless one of their pages is shown. */
export function NavFold({
  title,
  hasPage = true,
  children,
}: {
  title: string
  /** False if the current page can only be below one of these pages. */
  hasPage?: boolean
  children: ComponentChildren
}) {
  const element = useRef<HTMLDetailsElement>(null)
  useLayoutEffect(() => {
    const details = element.current!
    const current = hasPage && details.querySelector('[aria-current]')
    if (!current) return
    details.open = true
    // The fold is the last part of the navigation, often below its visible part.
    current.scrollIntoView({ block: 'nearest' })
  }, [currentPath.value])
  return (
    <details class="nav-fold" ref={element}>
      <summary>{title}</summary>
      <ul>{children}</ul>
    </details>
  )
}
