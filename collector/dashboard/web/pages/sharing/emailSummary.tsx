import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Select } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { Section } from '../../components/page.tsx'
import { toast } from '../../components/toast.tsx'
import { useSession } from '../../session.ts'
import { useQuery } from '../../useQuery.ts'

const frequencies = { never: 'Never', weekly: 'Each Monday', monthly: 'On the first of each month' }

/** How often the user receives the project's figures by e-mail; nothing if this service sends no mail. */
export function EmailSummary({ projectId }: { projectId: string }) {
  const { member } = useSession()
  const summary = useQuery(() => api.getEmailSummary({ project_id: projectId }))
  return (
    <AsyncView query={summary} lines={3}>
      {({ frequency, by_mail }) =>
        by_mail && (
          <Section
            title="E-mail summary"
            lead={`Figures, top pages and sources, compared with the previous period, sent to ${member.email}. Each member has their own setting.`}
          >
            <div class="card">
              <Form
                values={{ frequency: frequency ?? 'never' }}
                submit={async ({ frequency }) => {
                  summary.set(
                    await api.setEmailSummary({
                      project_id: projectId,
                      frequency:
                        frequency === 'weekly' || frequency === 'monthly' ? frequency : null,
                    }),
                  )
                  toast('Saved')
                }}
                action="Save"
              >
                <Select name="frequency" label="Frequency" options={frequencies} />
              </Form>
            </div>
          </Section>
        )
      }
    </AsyncView>
  )
}
