import type { ComponentChildren } from 'preact'

/** Shows a JSON value as a tree that users can expand; the first two levels are expanded. */
export function JsonTree({ value, level = 0 }: { value: unknown; level?: number }) {
  const members = membersOf(value)
  if (!members)
    return <span class={`json-${value === null ? 'null' : typeof value}`}>{textOf(value)}</span>
  if (members.length === 0)
    return <span class="json-null">{Array.isArray(value) ? '[ ]' : '{ }'}</span>
  return (
    <ul class="json">
      {members.map(([name, member]) => (
        <li key={name}>
          <Branch name={name} value={member} level={level} />
        </li>
      ))}
    </ul>
  )
}

function Branch({
  name,
  value,
  level,
}: {
  name: string
  value: unknown
  level: number
}): ComponentChildren {
  const members = membersOf(value)
  if (!members || members.length === 0) {
    return (
      <>
        <span class="json-name">{name}</span> <JsonTree value={value} />
      </>
    )
  }
  return (
    <details open={level < 2}>
      <summary>
        <span class="json-name">{name}</span>{' '}
        <span class="json-null">
          {Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`}
        </span>
      </summary>
      <JsonTree value={value} level={level + 1} />
    </details>
  )
}

/** Returns the members of an object or array; null for other values. */
const membersOf = (value: unknown): [string, unknown][] | null =>
  typeof value === 'object' && value !== null ? Object.entries(value) : null

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

/** The parsed JSON of a text, or the text itself. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
