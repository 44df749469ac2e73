import type { ComponentChildren, VNode } from 'preact'
import { useContext, useId } from 'preact/hooks'
import { FormContext } from './form.tsx'

interface FieldProps {
  name: string
  label: string
  /** Hint for the user. */
  hint?: ComponentChildren
}

interface Control {
  id: string
  name: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean
}

/** A control with its label, hint, fault, and the value of a concurrent change. */
function Field({
  name,
  label,
  hint,
  format = (value) => `“${value}”`,
  layout = '',
  children,
}: FieldProps & {
  /** Formats a value for a sentence. */
  format?: (value: string) => string
  layout?: '' | 'box' | 'beside'
  children: (control: Control, value: string) => VNode
}) {
  const id = useId()
  const { values, faults, theirs } = useContext(FormContext)
  const theirValue = theirs[name]
  const notes = Object.entries<ComponentChildren>({
    hint,
    fault: faults[name],
    meanwhile: theirValue !== undefined && `Someone else changed this to ${format(theirValue)}`,
  }).filter(([, note]) => note)
  const control = children(
    {
      id,
      name,
      'aria-describedby': notes.map(([kind]) => `${id}-${kind}`).join(' ') || undefined,
      'aria-invalid': faults[name] !== undefined,
    },
    values[name] ?? '',
  )
  return (
    <div class={`field ${layout}`}>
      {layout === 'box' && control}
      <label for={id}>{label}</label>
      {layout !== 'box' && control}
      {notes.map(([kind, note]) => (
        <p key={kind} id={`${id}-${kind}`} class={kind}>
          {note}
        </p>
      ))}
    </div>
  )
}

const orEmpty = (value: string): string => (value === '' ? 'nothing' : `“${value}”`)

/** Further attributes of a text input. */
interface TextInput {
  type?: 'text' | 'email' | 'password' | 'number' | 'date' | 'datetime-local'
  autocomplete?: string
  required?: boolean
  minLength?: number
  maxLength?: number
  min?: number
  max?: number
  step?: number
  pattern?: string
}

export function TextField({
  name,
  label,
  hint,
  type = 'text',
  suggestions,
  ...input
}: FieldProps &
  TextInput & {
    /** Suggested values; users may type others. */ suggestions?: readonly string[]
  }) {
  const list = useId()
  return (
    <>
      <Field name={name} label={label} hint={hint} format={orEmpty}>
        {(control, value) => (
          // Preact has a separate type for each kind of input, but these accept the same attributes.
          <input
            type={type as 'text'}
            list={suggestions && list}
            {...input}
            {...control}
            defaultValue={value}
          />
        )}
      </Field>
      {suggestions && (
        <datalist id={list}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </>
  )
}

/** A field for several values, one per line; `linesOf` reads them. */
export function LinesField({ name, label, hint, rows = 3 }: FieldProps & { rows?: number }) {
  return (
    <Field
      name={name}
      label={label}
      hint={hint}
      format={(value) => orEmpty(linesOf(value).join(', '))}
    >
      {(control, value) => (
        <textarea rows={rows} spellcheck={false} {...control} defaultValue={value} />
      )}
    </Field>
  )
}

/** Returns the values of a LinesField's text. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Returns the text of a LinesField with these values. */
export const linesFrom = (values: string[]): string => values.join('\n')

export function Checkbox({ name, label, hint }: FieldProps) {
  return (
    <Field
      name={name}
      label={label}
      hint={hint}
      format={(value) => (value ? 'on' : 'off')}
      layout="box"
    >
      {(control, value) => <input type="checkbox" {...control} defaultChecked={value === 'on'} />}
    </Field>
  )
}

/** A choice of a few options; `options` maps the sent values to the labels. */
export function Select({
  name,
  label,
  hint,
  options,
  onChange,
  layout = '',
}: FieldProps & {
  options: Record<string, string>
  onChange?: (value: string) => void
  layout?: '' | 'beside'
}) {
  return (
    <Field
      name={name}
      label={label}
      hint={hint}
      format={(value) => `“${options[value] ?? value}”`}
      layout={layout}
    >
      {(control, value) => (
        <select {...control} onChange={(event) => onChange?.(event.currentTarget.value)}>
          {Object.entries(options).map(([option, text]) => (
            <option key={option} value={option} selected={option === value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/**
 * A choice of a few options with a sentence each; none is selected by default unless the form has a value.
 */
export function Choice({
  name,
  label,
  options,
}: {
  name: string
  label: string
  options: { value: string; label: string; hint?: string }[]
}) {
  const id = useId()
  const { values, faults } = useContext(FormContext)
  return (
    <fieldset class="choice" aria-describedby={faults[name] && `${id}-fault`}>
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option.value} class="option">
          <input
            type="radio"
            name={name}
            value={option.value}
            required
            defaultChecked={values[name] === option.value}
            aria-invalid={faults[name] !== undefined}
          />
          <span>
            {option.label}
            {option.hint && <small>{option.hint}</small>}
          </span>
        </label>
      ))}
      {faults[name] && (
        <p id={`${id}-fault`} class="fault">
          {faults[name]}
        </p>
      )}
    </fieldset>
  )
}
