import { type ComponentChildren, createContext } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, messageOf } from '../api.ts'

/** Values of a form's fields, by name. A checked checkbox is "on", an unchecked one "". */
export type Values = Record<string, string>

/** State of the form for its fields. */
export interface FormState {
  /** Initial values of the fields. */
  values: Values
  /** Message for each faulty field, by its name; '' for the entire form. */
  faults: Values
  /** Values of a concurrent change, by field. */
  theirs: Values
}

export const FormContext = createContext<FormState>({ values: {}, faults: {}, theirs: {} })

export interface FormProps {
  /** Sends the form. Errors are shown, next to the field that the service names. */
  submit(values: Values): Promise<void>
  /** Label of the button. */
  action: string
  tone?: 'danger'
  cancel?(): void
  values?: Values
  theirs?: Values
  /** Called with the values of the fields after each edit. */
  edited?(values: Values): void
  /** Called with the faulty fields, before the first of them gets the focus. */
  refused?(fields: string[]): void
  /** Replaces the usual row of buttons. */
  buttons?(isBusy: boolean): ComponentChildren
  children: ComponentChildren
}

/** A form that checks its fields, sends them once, and shows faults next to the field. */
export function Form({
  submit,
  action,
  tone,
  cancel,
  values = {},
  theirs = {},
  edited,
  refused,
  buttons,
  children,
}: FormProps) {
  const element = useRef<HTMLFormElement>(null)
  const [faults, setFaults] = useState<Values>({})
  const [busy, setBusy] = useState(false)

  useEffect(() => {
    if (Object.keys(faults).length > 0) {
      element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
    }
  }, [faults])

  const refuse = (found: Values) => {
    refused?.(Object.keys(found))
    setFaults(found)
  }

  const onSubmit = async (event: Event) => {
    event.preventDefault()
    const form = element.current!
    if (busy) return
    const found = faultsOfFields(form)
    if (Object.keys(found).length > 0) return refuse(found)
    setFaults({})
    setBusy(true)
    try {
      await submit(valuesOf(form))
    } catch (error) {
      refuse(faultsOfAnswer(error, form))
    } finally {
      setBusy(false)
    }
  }

  return (
    // We check the fields, because the browser would show only the first fault, and not next to its field.
    <form
      ref={element}
      onSubmit={onSubmit}
      onInput={edited && ((event) => edited(valuesOf(event.currentTarget)))}
      noValidate
    >
      <FormContext.Provider value={{ values, faults, theirs }}>{children}</FormContext.Provider>
      {faults[''] && (
        <p class="fault" role="alert">
          {faults['']}
        </p>
      )}
      {buttons ? (
        buttons(busy)
      ) : (
        <div class="actions">
          <button type="submit" class={tone ?? 'primary'} aria-disabled={busy}>
            {busy ? 'Please wait…' : action}
          </button>
          {cancel && (
            <button type="button" onClick={cancel}>
              Cancel
            </button>
          )}
        </div>
      )}
    </form>
  )
}

const valuesOf = (form: HTMLFormElement): Values =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]))

function faultsOfFields(form: HTMLFormElement): Values {
  const faults: Values = {}
  for (const field of form.elements) {
    if (
      !(
        field instanceof HTMLInputElement ||
        field instanceof HTMLSelectElement ||
        field instanceof HTMLTextAreaElement
      )
    )
      continue
    if (!field.checkValidity()) faults[field.name] ??= field.validationMessage
  }
  return faults
}

/**
 * The service names a field by its path ("settings.text_length_max"); the form uses the last part that is one
 * of its fields.
 */
function faultsOfAnswer(error: unknown, form: HTMLFormElement): Values {
  if (!(error instanceof ApiError)) throw error
  const parameter = typeof error.details.parameter === 'string' ? error.details.parameter : ''
  const field = parameter
    .split(/\W+/)
    .findLast((part) => part !== '' && form.elements.namedItem(part))
  const message = messageOf(error)
  const said = message.startsWith(`${parameter}: `) ? message.slice(parameter.length + 2) : message
  return { [field ?? '']: field ? said.charAt(0).toUpperCase() + said.slice(1) : message }
}
