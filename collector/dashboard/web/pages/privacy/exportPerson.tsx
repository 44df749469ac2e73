import { api } from '../../api.ts'
import { Form } from '../../components/form.tsx'
import { Section } from '../../components/page.tsx'
import { toast } from '../../components/toast.tsx'
import { saveFile } from '../../saveFile.ts'
import { SubjectField, subjectOf } from './subject.tsx'

/** The data of a person as a file, for access requests. */
export function ExportPerson() {
  return (
    <Section
      title="Export the data of a person"
      lead="For access requests. One line of JSON for each event, rejected event and link."
    >
      <div class="card">
        <Form
          submit={async (values) => {
            const answer = await api.exportSubject.raw(subjectOf(values))
            saveFile('export.ndjson', await answer.blob())
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
