import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

/** Returns the id of a tab and its panel within a set. */
const idOf = (set: string, tab: string): string => `${set}-${tab}`

/**
 * A choice of one of several panels, as WAI-ARIA defines tabs: arrows, Home and End move between them. `tabs`
 * maps their names to labels.
 */
export function Tabs<Tab extends string>({
  set,
  label,
  tabs,
  current,
  choose,
}: {
  set: string
  label: string
  tabs: Readonly<Partial<Record<Tab, string>>>
  current: Tab
  choose(tab: Tab): void
}) {
  const list = useRef<HTMLDivElement>(null)
  const names = Object.keys(tabs) as Tab[]
  const onKeyDown = (event: KeyboardEvent) => {
    const at = names.indexOf(current)
    const to = {
      ArrowRight: (at + 1) % names.length,
      ArrowLeft: (at + names.length - 1) % names.length,
      Home: 0,
      End: names.length - 1,
    }[event.key]
    if (to === undefined) return
    event.preventDefault()
    choose(names[to]!)
    list.current!.querySelectorAll<HTMLElement>('[role=tab]')[to]!.focus()
  }
  return (
    <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {names.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`${idOf(set, name)}-tab`}
          aria-controls={idOf(set, name)}
          aria-selected={name === current}
          tabIndex={name === current ? 0 : -1}
          onClick={() => choose(name)}
        >
          {tabs[name]}
        </button>
      ))}
    </div>
  )
}

/** The content of a tab; hidden, it keeps typed values. */
export function TabPanel({
  set,
  tab,
  current,
  children,
}: {
  set: string
  tab: string
  current: string
  children: ComponentChildren
}) {
  return (
    <div
      class="tab-panel"
      role="tabpanel"
      id={idOf(set, tab)}
      aria-labelledby={`${idOf(set, tab)}-tab`}
      hidden={tab !== current}
    >
      {children}
    </div>
  )
}
