import type { ComponentChildren } from 'preact'
import { textOf } from './filterText.ts'
import { addFilter } from './view.ts'

/** A row's name; a click filters the page by the row. */
export function FilterButton({
  filters,
  title = filters.map(textOf).join(', '),
  after,
  children,
}: {
  /** Filters, each as field:op:value. */
  filters: readonly string[]
  title?: string
  /** Called after the click. */
  after?: (() => void) | undefined
  children: ComponentChildren
}) {
  return (
    <button
      type="button"
      class="plain"
      title={`Show only ${title}`}
      onClick={() => {
        for (const filter of filters) addFilter(filter)
        after?.()
      }}
    >
      {children}
    </button>
  )
}
