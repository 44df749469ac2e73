import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Definition, type Draft, emptyLeaf, type Leaf } from './draft.ts'
import { type Choices, LeafEditor } from './leafEditor.tsx'

/** The included and the excluded conditions of a draft. */
export function Conditions({
  draft,
  choices,
  change,
}: {
  draft: Draft
  choices: Choices
  change(part: Partial<Draft>): void
}) {
  return (
    <>
      <Leaves
        title="Include who matches"
        noun="condition"
        addLabel="Add a condition to include"
        leaves={draft.include}
        choices={choices}
        change={(include) => change({ include })}
        keepsOne
      >
        <select
          aria-label="Number of conditions to match"
          value={draft.match}
          onChange={({ currentTarget: { value } }) => change({ match: value as Draft['match'] })}
        >
          <option value="all">all of these</option>
          <option value="any">any of these</option>
        </select>
      </Leaves>
      <Leaves
        title="Exclude who matches any of these"
        noun="exclusion"
        addLabel="Add a condition to exclude"
        leaves={draft.exclude}
        choices={choices}
        change={(exclude) => change({ exclude })}
      />
    </>
  )
}

function Leaves({
  title,
  noun,
  addLabel,
  leaves,
  choices,
  change,
  keepsOne = false,
  children,
}: {
  title: string
  /** Names one of the leaves, with its number. */
  noun: string
  addLabel: string
  leaves: readonly Leaf[]
  choices: Choices
  change(leaves: Leaf[]): void
  keepsOne?: boolean
  children?: ComponentChildren
}) {
  return (
    <fieldset class="leaves">
      <legend>{title}</legend>
      {children}
      {leaves.map((leaf, index) => (
        <LeafEditor
          // Conditions have no other identity than their index.
          key={index}
          leaf={leaf}
          label={`${noun} ${index + 1}`}
          choices={choices}
          change={(changed) => change(leaves.with(index, changed))}
          remove={
            keepsOne && leaves.length === 1 ? undefined : () => change(leaves.toSpliced(index, 1))
          }
        />
      ))}
      <button type="button" onClick={() => change([...leaves, emptyLeaf.event])}>
        {addLabel}
      </button>
    </fieldset>
  )
}

/** Shows a definition that the builder does not support, as JSON. */
export function JsonDefinition({
  definition,
  change,
}: {
  definition: Definition
  change(definition: Definition): void
}) {
  const [text, setText] = useState(JSON.stringify(definition, null, 2))
  const [fault, setFault] = useState('')
  return (
    <label class="field">
      <span>Definition (JSON). It is nested, as GET /api/v1/audiences/schema describes</span>
      <textarea
        rows={14}
        spellcheck={false}
        value={text}
        aria-invalid={fault !== ''}
        onInput={({ currentTarget: { value } }) => {
          setText(value)
          try {
            change(JSON.parse(value))
            setFault('')
          } catch (error) {
            setFault((error as Error).message)
          }
        }}
      />
      {fault && <span class="fault">{fault}</span>}
    </label>
  )
}
