import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Select, TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { projectOfPath } from '../projectPath.ts'
import { currentPath } from '../router.tsx'
import { useQuery, useQueryOf } from '../useQuery.ts'
import { labelOfField, operatorHints, operatorLabels } from './labels.ts'
import { addFilter, useView } from './view.ts'

type CatalogField = Awaited<ReturnType<typeof api.listFields>>['fields'][number]

const fieldDefault = 'page_path'
/** Most suggested values: those with the most visitors. */
const valuesMax = 100

/** Asks for a filter on a field of events, field:op:value. */
export function FilterDialog({
  title = 'Filter',
  action = 'Add filter',
  add = addFilter,
  close,
}: {
  title?: string
  action?: string
  add?(filter: string): void
  close(): void
}) {
  const catalog = useQuery(() => api.listFields({ tier: 'web_event' }))
  return (
    <Dialog title={title} close={close}>
      <AsyncView query={catalog}>
        {({ fields }) => (
          <Form
            values={{ field: fieldDefault, op: 'eq' }}
            submit={async ({ field, op, value }) => {
              close()
              add(`${field}:${op}:${value}`)
            }}
            action={action}
            cancel={close}
          >
            <FilterFields fields={fields} />
          </Form>
        )}
      </AsyncView>
    </Dialog>
  )
}

/** A field, an operator and a value. It offers values of the field in the days of the page. */
function FilterFields({ fields }: { fields: readonly CatalogField[] }) {
  const { query } = useView(projectOfPath(currentPath.value)!)
  const [field, setField] = useState(fieldDefault)
  const [operator, setOperator] = useState('eq')
  const values = useQueryOf(field, async () => {
    const { values, groupable } = fields.find(({ name }) => name === field)!
    if (values) return values
    if (!groupable) return []
    const { breakdowns } = await api.getAnalyticsBreakdown({
      ...query,
      dimensions: field,
      limit: valuesMax,
    })
    return breakdowns[field]!.values.flatMap(({ value }) => value ?? [])
  })
  return (
    <>
      <Select
        name="field"
        label="Field"
        options={Object.fromEntries(fields.map(({ name }) => [name, labelOfField(name)]))}
        onChange={setField}
      />
      <Select name="op" label="Operator" options={operatorLabels} onChange={setOperator} />
      <TextField
        name="value"
        label="Value"
        hint={operatorHints[operator]}
        maxLength={2_000}
        autocomplete="off"
        required
        suggestions={values.isStale ? [] : (values.value ?? [])}
      />
    </>
  )
}
