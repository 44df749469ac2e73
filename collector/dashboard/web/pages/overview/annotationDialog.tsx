import { type AnalyticsAnnotation, api } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { localTime, millisOf } from '../../components/time.ts'
import { toast } from '../../components/toast.tsx'
import { zoneText } from '../../zone.ts'

/** Asks for an annotation, changes one, or deletes it. */
export function AnnotationDialog({
  projectId,
  annotation,
  changed,
  close,
}: {
  projectId: string
  annotation: AnalyticsAnnotation | null
  changed(): Promise<void>
  close(): void
}) {
  const remove = async ({ annotation_id, at, text }: AnalyticsAnnotation) => {
    await api.deleteAnalyticsAnnotation({ annotation_id })
    toast('Annotation deleted', async () => {
      await api.createAnalyticsAnnotation({ project_id: projectId, at, text })
      await changed()
    })
    await changed()
  }
  return (
    <Dialog title={annotation ? 'Edit annotation' : 'New annotation'} close={close}>
      <Form
        values={{
          at: localTime(annotation ? Date.parse(annotation.at) : Date.now()),
          text: annotation?.text ?? '',
        }}
        submit={async ({ at = '', text = '' }) => {
          const fields = { at: new Date(millisOf(at)).toISOString(), text }
          if (annotation) {
            const { annotation_id, version } = annotation
            await api.updateAnalyticsAnnotation({ annotation_id, version, ...fields })
          } else await api.createAnalyticsAnnotation({ project_id: projectId, ...fields })
          await changed()
        }}
        action="Save annotation"
        cancel={close}
      >
        <TextField
          name="at"
          label="Time"
          hint={`In the project’s time zone: ${zoneText()}.`}
          type="datetime-local"
          required
        />
        <TextField
          name="text"
          label="Text"
          hint="Such as “New prices”. Everybody in the project sees it on the chart."
          maxLength={200}
          autocomplete="off"
          required
        />
      </Form>
      {annotation && (
        <p class="dialog-more">
          <button type="button" class="link danger" onClick={() => remove(annotation)}>
            Delete this annotation
          </button>
        </p>
      )}
    </Dialog>
  )
}
