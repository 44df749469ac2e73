import type { KeysFate } from '../api.ts'
import { Dialog } from '../components/dialog.tsx'
import { Form } from '../components/form.tsx'
import { useKeysQuestion } from '../components/keysQuestion.tsx'

/**
 * Asks for confirmation before a member is removed, and how to treat the member's API keys, if there are any.
 */
export function RemoveMemberDialog({
  title,
  consequence,
  remove,
  close,
}: {
  title: string
  /** The effect on the member, as a sentence. */
  consequence: string
  remove(fate: KeysFate): Promise<void>
  close(): void
}) {
  const { asking, question } = useKeysQuestion()
  return (
    <Dialog title={title} close={close}>
      <Form
        submit={(values) => asking(values, remove)}
        action="Remove"
        tone="danger"
        cancel={close}
      >
        <p>{consequence}</p>
        {question}
      </Form>
    </Dialog>
  )
}
