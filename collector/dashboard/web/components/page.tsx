import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

let isFirst = true

/**
 * A page's heading and content. After navigation the heading gets the focus, so that a screen reader
 * announces it and the next Tab starts at the top.
 */
export function Page({
  title,
  lead,
  actions,
  children,
}: {
  title: string
  lead?: ComponentChildren
  /** False keeps the space of actions that are hidden, or not loaded yet. */
  actions?: ComponentChildren
  children: ComponentChildren
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true })
    isFirst = false
  }, [])
  useEffect(() => {
    document.title = `${title} · Footfall`
  }, [title])
  return (
    <>
      <header class="page-header">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}

/** A part of a page with its own heading. */
export function Section({
  title,
  lead,
  actions,
  children,
}: {
  title: string
  lead?: ComponentChildren
  actions?: ComponentChildren
  children: ComponentChildren
}) {
  const id = title.toLowerCase().replace(/\W+/g, '-')
  return (
    <section class="part" aria-labelledby={id}>
      <header class="section-header">
        <div>
          <h2 id={id}>{title}</h2>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  )
}
