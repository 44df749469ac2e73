import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/**
 * Closes an open details element on Escape, and when the user clicks or moves the focus elsewhere. Escape has
 * no other effect then, because the page's own shortcut would remove all filters. A hook.
 */
export function usePopover(place: RefObject<HTMLDetailsElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !place.current?.open) return
      event.stopPropagation()
      place.current.open = false
      place.current.querySelector('summary')?.focus()
    }
    const onTurn = ({ target }: Event) => {
      if (place.current?.open && !place.current.contains(target as Node)) place.current.open = false
    }
    addEventListener('keydown', onKeyDown, { capture: true })
    addEventListener('pointerdown', onTurn)
    addEventListener('focusin', onTurn)
    return () => {
      removeEventListener('keydown', onKeyDown, { capture: true })
      removeEventListener('pointerdown', onTurn)
      removeEventListener('focusin', onTurn)
    }
  }, [])
}
