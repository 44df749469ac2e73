import { api } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'

/** Asks for a goal, and adds it to those that the project has by then. */
export function GoalDialog({
  projectId,
  saved,
  close,
}: {
  projectId: string
  saved(): void
  close(): void
}) {
  return (
    <Dialog title="New goal" close={close}>
      <Form
        submit={async ({ name = '', filter = '' }) => {
          const { goals, version } = await api.getAnalyticsGoals({ project_id: projectId })
          await api.setAnalyticsGoals({
            project_id: projectId,
            goals: [...goals, { name, filter }],
            ...(version > 0 && { version }),
          })
          saved()
        }}
        action="Save goal"
        cancel={close}
        values={{ filter: 'event_type:eq:form_submission' }}
      >
        <TextField name="name" label="Name" hint="Such as “Signed up”." maxLength={200} required />
        <TextField
          name="filter"
          label="Filter"
          hint={
            <>
              Which events count, as <code>field:op:value</code>; several with commas between them.
              Such as <code>page_path:eq:/thanks</code>.
            </>
          }
          maxLength={2_000}
          required
        />
      </Form>
    </Dialog>
  )
}
