import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { currentPath } from '../router.tsx'
import { isShared } from '../shared.ts'
import { guideOf } from './pageGuide.ts'

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
  const guide = guideOf(currentPath.value)
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
          {guide && !isShared() && (
            <a class="help" href={guide} target="_blank" rel="noreferrer">
              Help<span class="visually-hidden"> with {title} (opens a new tab)</span>
            </a>
          )}
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
