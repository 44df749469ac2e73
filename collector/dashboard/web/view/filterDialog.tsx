import { useState } from 'preact/hooks'
import { Dialog } from '../components/dialog.tsx'
import { Form } from '../components/form.tsx'
import { projectOfPath } from '../projectPath.ts'
import { currentPath } from '../router.tsx'
import { ConditionBuilder } from './conditionBuilder.tsx'
import { splitFilter } from './filterText.ts'
import { addFilter } from './view.ts'

/** Adds each condition of a text to the filters of the page. */
const addToView = (text: string): void => {
  for (const filter of splitFilter(text)) addFilter(filter)
}

/** Asks for conditions on events, as field:op:value with commas between several. */
export function FilterDialog({
  title = 'Filter',
  action = 'Add filter',
  add = addToView,
  hasSessions = false,
  close,
}: {
  title?: string
  action?: string
  add?(filter: string): void
  /** Whether fields of sessions, such as the channel, are offered. */
  hasSessions?: boolean
  close(): void
}) {
  const [filter, setFilter] = useState('')
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
          value=""
          hasSessions={hasSessions}
          change={setFilter}
        />
      </Form>
    </Dialog>
  )
}
