import { api } from '../api.ts'
import { AsyncView } from '../parts/asyncView.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Select, TextField } from '../parts/fields.tsx'
import { Form } from '../parts/form.tsx'
import { useQuery } from '../useQuery.ts'
import { addFilter } from './view.ts'

const operators = {
  eq: 'is',
  ne: 'is not',
  like: 'is like (% and _ stand for anything)',
  in: 'is one of (values with | between them)',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
}

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
            values={{ field: 'page_path', op: 'eq' }}
            submit={async ({ field, op, value }) => {
              close()
              add(`${field}:${op}:${value}`)
            }}
            action={action}
            cancel={close}
          >
            <Select
              name="field"
              label="Field"
              options={Object.fromEntries(fields.map(({ name }) => [name, name]))}
            />
            <Select name="op" label="Operator" options={operators} />
            <TextField name="value" label="Value" maxLength={2_000} autocomplete="off" required />
          </Form>
        )}
      </AsyncView>
    </Dialog>
  )
}
