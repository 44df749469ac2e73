import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Form } from '../../components/form.tsx'
import { setUrl } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'
import { labelOfField } from '../../view/labels.ts'
import { columnsDefault } from './eventRow.ts'

/** Selects the fields of events in the list, in the order of the field catalog. */
export function ColumnsDialog({ shown, close }: { shown: readonly string[]; close(): void }) {
  const catalog = useQuery(() => api.listFields({ tier: 'web_event' }))
  return (
    <Dialog title="Columns" close={close}>
      <AsyncView query={catalog}>
        {({ fields }) => (
          <Form
            action="Show columns"
            cancel={close}
            submit={async (values) => {
              const names = [
                'timestamp',
                ...fields.map(({ name }) => name).filter((name) => name !== 'timestamp'),
              ]
              const chosen = names.filter((name) => values[name] === 'on')
              close()
              const isDefault = chosen.join() === [...columnsDefault].join()
              setUrl({ columns: isDefault ? '' : chosen.join(',') })
            }}
          >
            {[...new Set(fields.map(({ group }) => group))].map((group) => (
              <fieldset key={group} class="column-choice">
                <legend>{group}</legend>
                {fields
                  .filter((field) => field.group === group)
                  .map(({ name, description }) => (
                    <label key={name} title={`${name}: ${description}`}>
                      <input type="checkbox" name={name} defaultChecked={shown.includes(name)} />
                      {labelOfField(name)}
                    </label>
                  ))}
              </fieldset>
            ))}
          </Form>
        )}
      </AsyncView>
    </Dialog>
  )
}
