import type { ComponentChildren } from 'preact'
import { Mark } from './mark.tsx'

/** What surrounds the pages that are shown before sign-in. */
export function Gate({ children }: { children: ComponentChildren }) {
  return (
    <main class="gate">
      <div class="brand">
        <Mark />
        Footfall
      </div>
      <div class="card">{children}</div>
    </main>
  )
}
