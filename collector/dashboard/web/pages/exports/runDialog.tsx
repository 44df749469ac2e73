import type { Export } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Form } from '../../components/form.tsx'
import { ExportPreview } from './exportPreview.tsx'

/** Shows what a run of an export sends and costs at most, before it is started. */
export function RunDialog({
  export: one,
  start,
  close,
}: {
  export: Export
  start(): Promise<void>
  close(): void
}) {
  return (
    <Dialog title={`Run “${one.name}” now?`} close={close} class="wide-dialog">
      <Form
        submit={async () => {
          close()
          await start()
        }}
        action="Start the run"
        cancel={close}
      >
        <ExportPreview sent={one} />
      </Form>
    </Dialog>
  )
}
