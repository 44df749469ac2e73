import type { ComponentChildren } from 'preact'
import { textOf } from './filterText.ts'
import { addFilter } from './view.ts'

/** A row's name: a click shows only what the row stands for. */
export function FilterButton({
  filters,
  title = filters.map(textOf).join(', '),
  after,
  children,
}: {
  /** Each field:op:value. */
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
