import { useState } from 'preact/hooks'
import { Dialog } from '../components/dialog.tsx'
import { Form } from '../components/form.tsx'
import { projectOfPath } from '../projectPath.ts'
import { currentPath } from '../router.tsx'
import { ConditionBuilder } from './conditionBuilder.tsx'
import { splitFilter } from './filterText.ts'
import { changeView } from './view.ts'

/** Asks for conditions on events, as field:op:value with commas between several. */
export function FilterDialog({
  title = 'Filter',
  filters = [],
  value = '',
  action = value ? 'Change filter' : 'Add filter',
  add = (text) => {
    const changed = filters.flatMap((filter) => (filter === value ? splitFilter(text) : filter))
    changeView({ filters: [...new Set(value ? changed : [...filters, ...splitFilter(text)])] })
  },
  hasSessions = false,
  close,
}: {
  title?: string
  /** The filters of the page, and the one to change; '' adds one. */
  filters?: readonly string[]
  value?: string
  action?: string
  add?(filter: string): void
  /** Whether fields of sessions, such as the channel, are offered. */
  hasSessions?: boolean
  close(): void
}) {
  const [filter, setFilter] = useState(value)
  return (
    <Dialog title={title} close={close} class="wide-dialog">
      <Form
        submit={async () => {
          close()
          if (filter !== '') add(filter)
        }}
        action={action}
        cancel={close}
      >
        <ConditionBuilder
          projectId={projectOfPath(currentPath.value)!}
          name="filter"
          value={value}
          hasSessions={hasSessions}
          change={setFilter}
        />
      </Form>
    </Dialog>
  )
}
