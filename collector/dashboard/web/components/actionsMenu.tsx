import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { usePopover } from './popover.ts'

/** A ⋯ menu of rarely used actions; `of` names their object. */
export function ActionsMenu({ of, children }: { of: string; children: ComponentChildren }) {
  const place = useRef<HTMLDetailsElement>(null)
  usePopover(place)
  return (
    <details class="actions-menu" ref={place}>
      <summary aria-label={`Actions of ${of}`}>⋯</summary>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons within are what people press */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a key presses a button by a click, too */}
      <div
        onClick={() => {
          place.current!.open = false
        }}
      >
        {children}
      </div>
    </details>
  )
}
