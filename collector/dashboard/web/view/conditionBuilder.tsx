import { useContext, useId, useState } from 'preact/hooks'
import type { Params } from '../../../api/client/index.ts'
import { api } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { FormContext } from '../components/form.tsx'
import { useQueryOf } from '../useQuery.ts'
import { type CatalogField, ConditionRow, eventName } from './conditionRow.tsx'
import { type Condition, readConditions, textOfConditions } from './conditions.ts'
import { operatorLabels } from './labels.ts'

const emptyCondition: Condition = { field: 'page_path', op: 'is', values: [] }
/** Returns the rows of a text; null if rows cannot express it. */
const rowsOf = (text: string): readonly Condition[] | null => {
  const read = readConditions(text)
  return read?.length === 0 ? [emptyCondition] : read
}
const ofSession = (name: string): CatalogField => ({
  name,
  group: 'session',
  description: '',
  data_type: 'Utf8',
  nullable: true,
  tier: 'web_event',
  groupable: true,
})
const sessionFields = ['source', 'channel', 'entry_page', 'exit_page'].map(ofSession)
const withSessions = (fields: readonly CatalogField[]): CatalogField[] => [
  ...sessionFields,
  ...fields.filter(({ name }) => name !== 'source'),
]
const form = new RegExp(`^[\\w.]+(?:-[\\w.]*)*:(?:${Object.keys(operatorLabels).join('|')}):`)

/**
 * Conditions on events: a field, an operator and values each, all of which an event must meet. As text under
 * "Advanced". In a form, the text is the field `name`.
 */
export function ConditionBuilder({
  projectId,
  name,
  value,
  tier = 'web_event',
  hasSessions = false,
  addLabel = 'Add a condition',
  change,
}: {
  projectId: string
  name: string
  /** field:op:value, with commas between several. */
  value: string
  /** The tier whose fields are offered. Another tier leaves the conditions as they are. */
  tier?: Params<'listFields'>['tier']
  /** Whether fields of sessions are offered, whose source replaces the origin of events. */
  hasSessions?: boolean
  /** The button that adds a condition, where it is not the only one. */
  addLabel?: string
  change(value: string): void
}) {
  const id = useId()
  const { faults } = useContext(FormContext)
  const catalog = useQueryOf(tier, () => api.listFields({ tier }))
  const [rows, setRows] = useState(() => rowsOf(value))
  // The user edits either the rows or the text, so that nothing moves when the text loses the focus.
  const [isText, setIsText] = useState(rows === null)
  const [text, setText] = useState(value)
  const [textFault, setTextFault] = useState('')
  const setConditions = (to: readonly Condition[]) => {
    setRows(to)
    setText(textOfConditions(to))
    setTextFault('')
    change(textOfConditions(to))
  }
  const fault = textFault || faults[name]
  const shown = isText ? null : rows
  return (
    <div class="field conditions" id={id}>
      <AsyncView query={catalog} lines={2}>
        {({ fields }) =>
          shown && (
            <ConditionRows
              projectId={projectId}
              fields={hasSessions ? withSessions(fields) : fields}
              rows={shown}
              change={setConditions}
              addLabel={addLabel}
              add={() => setRows([...shown, { ...emptyCondition, field: eventName }])}
            />
          )
        }
      </AsyncView>
      <details
        open={isText}
        onToggle={({ currentTarget }) => {
          const read = currentTarget.open ? rows : rowsOf(text.trim())
          if (!currentTarget.open && read === null) currentTarget.open = true
          setRows(read)
          setIsText(currentTarget.open)
        }}
      >
        <summary>Advanced</summary>
        <ConditionsText
          id={id}
          name={name}
          text={text}
          fault={fault}
          change={(to) => {
            setText(to)
            change(to.trim())
          }}
          check={setTextFault}
        />
      </details>
      {fault && (
        <p id={`${id}-fault`} class="fault">
          {fault}
        </p>
      )}
    </div>
  )
}

function ConditionsText({
  id,
  name,
  text,
  fault,
  change,
  check,
}: {
  id: string
  name: string
  text: string
  fault: string | undefined
  change(text: string): void
  /** Receives the fault of the text when the field loses the focus; '' without one. */
  check(fault: string): void
}) {
  return (
    <>
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
        onInput={({ currentTarget }) => change(currentTarget.value)}
        onBlur={() => {
          const trimmed = text.trim()
          const isForm = trimmed === '' || form.test(trimmed)
          check(isForm ? '' : `“${trimmed}” is not field:op:value.`)
        }}
      />
      <p id={`${id}-hint`} class="hint">
        As the API takes it: <code>field:op:value</code>, with commas between several.
        {rowsOf(text.trim()) === null && ' Only text can express these conditions.'}
      </p>
    </>
  )
}

function ConditionRows({
  projectId,
  fields,
  rows,
  change,
  addLabel,
  add,
}: {
  projectId: string
  fields: readonly CatalogField[]
  rows: readonly Condition[]
  change(rows: readonly Condition[]): void
  addLabel: string
  add(): void
}) {
  return (
    <>
      {rows.map((condition, index) => (
        <ConditionRow
          // Conditions are identified by their position.
          key={index}
          projectId={projectId}
          fields={fields}
          condition={condition}
          number={index + 1}
          change={(to) => change(rows.with(index, to))}
          remove={rows.length > 1 ? () => change(rows.toSpliced(index, 1)) : undefined}
        />
      ))}
      <button type="button" class="link" onClick={add}>
        {addLabel}
      </button>
    </>
  )
}
