import { Dialog } from '../components/dialog.tsx'
import { TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { zoneText } from '../zone.ts'
import type { Days } from './periods.ts'

/** Asks for the first and last day of a period. */
export function CustomDays({
  title,
  days: { from, to },
  choose,
  close,
}: {
  title: string
  days: Days
  choose(days: Days): void
  close(): void
}) {
  return (
    <Dialog title={title} close={close}>
      <Form
        values={{ from, to }}
        submit={async ({ from = '', to = '' }) => {
          // Accepts the days in either order.
          const [first = '', last = ''] = [from, to].sort()
          close()
          choose({ from: first, to: last })
        }}
        action="Show"
        cancel={close}
      >
        <TextField name="from" label={`First day (${zoneText()})`} type="date" required />
        <TextField name="to" label={`Last day (${zoneText()})`} type="date" required />
      </Form>
    </Dialog>
  )
}
