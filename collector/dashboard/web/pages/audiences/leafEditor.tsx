import { useState } from 'preact/hooks'
import { ConditionBuilder } from '../../view/conditionBuilder.tsx'
import { labelOfField, labelOfValue } from '../../view/labels.ts'
import type { Audience } from './audiences.tsx'
import { emptyLeaf, type Leaf, type LeafKind } from './draft.ts'
import { profileOperators } from './sentence.ts'

/** Values that leaves can select. */
export interface Choices {
  projectId: string
  eventTypes: readonly string[]
  profileFields: readonly { name: string; description: string; data_type: string }[]
  lists: readonly { id: string; name: string }[]
  audiences: readonly Pick<Audience, 'id' | 'name'>[]
}

const kindNames: Record<LeafKind, string> = {
  event: 'Event',
  profile: 'Profile',
  intent: 'Interest',
  list: 'On a list',
  audience: 'In an audience',
}

/** One condition, to be changed or taken away. */
export function LeafEditor({
  leaf,
  label,
  choices,
  change,
  remove,
}: {
  leaf: Leaf
  /** The label, such as "Condition 2". */
  label: string
  choices: Choices
  change(leaf: Leaf): void
  remove?: (() => void) | undefined
}) {
  return (
    <fieldset class="leaf">
      <legend class="visually-hidden">{label}</legend>
      <label>
        Condition
        <select
          value={leaf.kind}
          onChange={({ currentTarget: { value } }) => change(emptyLeaf[value as LeafKind])}
        >
          {Object.entries(kindNames).map(([kind, name]) => (
            <option key={kind} value={kind}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <LeafFields leaf={leaf} choices={choices} change={change} />
      {remove && (
        <button type="button" aria-label={`Remove ${label}`} onClick={remove}>
          Remove
        </button>
      )}
    </fieldset>
  )
}

function LeafFields({
  leaf,
  choices,
  change,
}: {
  leaf: Leaf
  choices: Choices
  change(leaf: Leaf): void
}) {
  const put = (name: string, value: string | number) => change({ ...leaf, [name]: value } as Leaf)
  const text = (name: string, label: string, value: string, placeholder = '') => (
    <TextInput
      label={label}
      value={value}
      placeholder={placeholder}
      change={(to) => put(name, to)}
    />
  )
  const number = (name: string, label: string, value: number, min: number, max: number) => (
    <NumberInput label={label} value={value} min={min} max={max} change={(to) => put(name, to)} />
  )
  const choice = (name: string, label: string, value: string, options: Option[]) => (
    <ChoiceInput label={label} value={value} options={options} change={(to) => put(name, to)} />
  )
  switch (leaf.kind) {
    case 'event':
      return (
        <>
          {choice('event_type', 'Event', leaf.event_type, [
            ['', 'any'],
            ...choices.eventTypes.map((type): Option => [type, labelOfValue('event_type', type)]),
          ])}
          {number('at_least', 'At least times', leaf.at_least, 1, 1_000_000)}
          {number('within_days', 'In the last days', leaf.within_days, 1, 365)}
          <EventConditions leaf={leaf} choices={choices} change={change} />
        </>
      )
    case 'profile':
      return (
        <>
          <ChoiceInput
            label="Field"
            value={leaf.field}
            options={choices.profileFields.map(({ name }): Option => [name, labelOfField(name)])}
            change={(field) => change(withAnswer({ ...leaf, field }, choices))}
          />
          <ChoiceInput
            label="Operator"
            value={leaf.op}
            options={Object.entries(profileOperators)}
            change={(op) => change(withAnswer({ ...leaf, op }, choices))}
          />
          {isYesOrNo(leaf, choices)
            ? choice('value', 'Value', leaf.value, [
                ['true', 'yes'],
                ['false', 'no'],
              ])
            : text(
                'value',
                leaf.op === 'in' || leaf.op === 'between' ? 'Values, separated by commas' : 'Value',
                leaf.value,
              )}
        </>
      )
    case 'intent':
      return (
        <>
          {text('topics', 'Topics, separated by commas', leaf.topics, 'golf, wine')}
          {number('min_score', 'Minimum score', leaf.min_score, 0, 100)}
        </>
      )
    case 'list':
      return choice('list_id', 'List', leaf.list_id, [
        ['', 'choose…'],
        ...choices.lists.map(({ id, name }): Option => [id, name]),
      ])
    case 'audience':
      return choice('audience_id', 'Audience', leaf.audience_id, [
        ['', 'choose…'],
        ...choices.audiences.map(({ id, name }): Option => [id, name]),
      ])
  }
}

type ProfileLeaf = Extract<Leaf, { kind: 'profile' }>

/** Whether the value of a condition on a profile is yes or no. */
const isYesOrNo = ({ field, op }: ProfileLeaf, { profileFields }: Choices): boolean =>
  op === 'is_set' ||
  (op === 'eq' && profileFields.find(({ name }) => name === field)?.data_type === 'Boolean')

/** A condition that asks for yes or no begins with yes. */
const withAnswer = (leaf: ProfileLeaf, choices: Choices): Leaf =>
  isYesOrNo(leaf, choices) && leaf.value !== 'false' ? { ...leaf, value: 'true' } : leaf

/** Which of the events count: all, until the reader asks for conditions. */
function EventConditions({
  leaf,
  choices: { projectId },
  change,
}: {
  leaf: Extract<Leaf, { kind: 'event' }>
  choices: Choices
  change(leaf: Leaf): void
}) {
  const [isAsked, setAsked] = useState(false)
  const isOpen = isAsked || leaf.filter !== ''
  return isOpen ? (
    <ConditionBuilder
      projectId={projectId}
      name="filter"
      value={leaf.filter}
      addLabel="Add a condition on the event"
      change={(filter) => {
        setAsked(true)
        change({ ...leaf, filter })
      }}
    />
  ) : (
    <button type="button" class="link" onClick={() => setAsked(true)}>
      Where…
    </button>
  )
}

type Option = [value: string, text: string]

function TextInput({
  label,
  value,
  placeholder,
  change,
}: {
  label: string
  value: string
  placeholder: string
  change(value: string): void
}) {
  return (
    <label>
      {label}
      <input
        type="text"
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </label>
  )
}

function NumberInput({
  label,
  value,
  min,
  max,
  change,
}: {
  label: string
  value: number
  min: number
  max: number
  change(value: number): void
}) {
  return (
    <label class="short">
      {label}
      <input
        type="number"
        value={value}
        min={min}
        max={max}
        onInput={({ currentTarget: { valueAsNumber } }) =>
          Number.isInteger(valueAsNumber) && change(valueAsNumber)
        }
      />
    </label>
  )
}

function ChoiceInput({
  label,
  value,
  options,
  change,
}: {
  label: string
  value: string
  options: Option[]
  change(value: string): void
}) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => change(currentTarget.value)}>
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
