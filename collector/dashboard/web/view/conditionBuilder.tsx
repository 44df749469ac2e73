import { useContext, useId, useState } from 'preact/hooks'
import { api } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { FormContext } from '../components/form.tsx'
import { useQuery } from '../useQuery.ts'
import { ConditionRow, eventName } from './conditionRow.tsx'
import { type Condition, readConditions, textOfConditions } from './conditions.ts'
import { operatorLabels } from './labels.ts'

const emptyCondition: Condition = { field: 'page_path', op: 'is', values: [] }
const form = new RegExp(`^[\\w.]+(?:-[\\w.]*)*:(?:${Object.keys(operatorLabels).join('|')}):`)

/**
 * Conditions on events: a field, an operator and values each, all of which an event must meet. As text under
 * "Advanced". In a form, the text is the field `name`.
 */
export function ConditionBuilder({
  projectId,
  name,
  value,
  change,
}: {
  projectId: string
  name: string
  /** field:op:value, with commas between several. */
  value: string
  change(value: string): void
}) {
  const id = useId()
  const { faults } = useContext(FormContext)
  const catalog = useQuery(() => api.listFields({ tier: 'web_event' }))
  const [rows, setRows] = useState<readonly Condition[] | null>(() => {
    const read = readConditions(value)
    return read && read.length === 0 ? [emptyCondition] : read
  })
  const [text, setText] = useState(value)
  const [textFault, setTextFault] = useState('')
  const setConditions = (to: readonly Condition[]) => {
    setRows(to)
    setText(textOfConditions(to))
    setTextFault('')
    change(textOfConditions(to))
  }
  const fault = textFault || faults[name]
  return (
    <div class="field conditions" id={id}>
      <AsyncView query={catalog} lines={2}>
        {({ fields }) => (
          <>
            {rows?.map((condition, index) => (
              <ConditionRow
                // Conditions have no name but their place.
                key={index}
                projectId={projectId}
                fields={fields}
                condition={condition}
                number={index + 1}
                change={(to) => setConditions(rows.with(index, to))}
                remove={rows.length > 1 ? () => setConditions(rows.toSpliced(index, 1)) : undefined}
              />
            ))}
            {rows && (
              <button
                type="button"
                class="link"
                onClick={() => setRows([...rows, { ...emptyCondition, field: eventName }])}
              >
                Add a condition
              </button>
            )}
          </>
        )}
      </AsyncView>
      <details open={rows === null}>
        <summary>Advanced</summary>
        <label for={`${id}-text`}>Conditions as text</label>
        <textarea
          id={`${id}-text`}
          name={name}
          rows={2}
          spellcheck={false}
          maxLength={2_000}
          value={text}
          aria-invalid={Boolean(fault)}
          aria-describedby={`${id}-hint${fault ? ` ${id}-fault` : ''}`}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            change(currentTarget.value.trim())
          }}
          onBlur={() => {
            const trimmed = text.trim()
            const isForm = trimmed === '' || form.test(trimmed)
            setTextFault(isForm ? '' : `“${trimmed}” is not field:op:value.`)
            if (isForm) setRows(readConditions(trimmed))
          }}
        />
        <p id={`${id}-hint`} class="hint">
          As the API takes it: <code>field:op:value</code>, with commas between several.
        </p>
      </details>
      {fault && (
        <p id={`${id}-fault`} class="fault">
          {fault}
        </p>
      )}
    </div>
  )
}
