import type { ComponentChildren } from 'preact'

/** Names and values of one object; omits null, which is unknown. */
export function Facts({ of }: { of: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class="facts">
      {Object.entries(of)
        .filter(([, fact]) => fact !== null && fact !== undefined)
        .map(([name, fact]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{fact}</dd>
          </div>
        ))}
    </dl>
  )
}
