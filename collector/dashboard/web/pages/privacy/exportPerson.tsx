import { api } from '../../api.ts'
import { Form } from '../../parts/form.tsx'
import { Section } from '../../parts/page.tsx'
import { toast } from '../../parts/toast.tsx'
import { SubjectField, subjectOf } from './subject.tsx'

/** What somebody who asks is told: all that is kept of them, as a file. */
export function ExportPerson() {
  return (
    <Section
      title="Export what is kept of somebody"
      lead="For people who ask what you know: one line of JSON for each event, rejected event and link."
    >
      <div class="card">
        <Form
          submit={async (values) => {
            const answer = await api.exportSubject.raw(subjectOf(values))
            save(await answer.blob(), 'export.ndjson')
            toast('Downloaded')
          }}
          action="Download"
        >
          <SubjectField />
        </Form>
      </div>
    </Section>
  )
}

function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
