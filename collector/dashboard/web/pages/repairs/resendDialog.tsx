import { ApiError, api, type RejectedEvent } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { LinesField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { readJson } from '../../components/readJson.ts'
import { toast } from '../../components/toast.tsx'
import { faultText } from '../../view/faultText.ts'

/** The collector stores this many characters of a rejected event. */
const storedMax = 4_096

/** Corrects the JSON of a rejected event and sends it again. */
export function ResendDialog({
  rejected: { project_id, pixel_id, cookie_id, path, message, event },
  sent,
  close,
}: {
  rejected: RejectedEvent
  sent(): Promise<unknown>
  close(): void
}) {
  const submit = async ({ event: text = '' }) => {
    const answer = await api.resendRejectedEvents({
      project_id,
      pixel_id,
      ...(cookie_id && { cookie_id }),
      events: [readJson(text, 'event')],
    })
    const [fault] = answer.rejected
    if (fault)
      throw new ApiError(400, 'invalid_parameter', `Still invalid: ${faultText(fault)}`, {
        details: { parameter: 'event' },
      })
    toast('The event is on its way')
    close()
    await sent()
  }
  return (
    <Dialog title="Correct and resend" close={close} class="wide">
      <p title={path}>{faultText({ path, message })}.</p>
      {event.length >= storedMax && (
        <p class="notice">The collector kept only the first 4,096 characters. Add the rest.</p>
      )}
      <Form
        values={{ event: indented(event) }}
        submit={submit}
        action="Resend event"
        cancel={close}
      >
        <LinesField
          name="event"
          label="Event as JSON"
          hint="Keep event_id and the time of the event."
          rows={16}
        />
      </Form>
    </Dialog>
  )
}

/** Returns JSON with line breaks; other text, such as truncated JSON, as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
